/** A valid `document.changed` event in a request, with non-ASCII text. */
export const changed = (overrides: object = {}) => ({
  type: 'document.changed',
  data: {
    document_key: 'org:acme:doc-1',
    revision: 2,
    changes: [{ field: 'title', old_value: 'Draft', new_value: 'Schlußfassung 🎉\u2028', origin: 'node-1' }],
    ...overrides,
  },
});
