import type { OperationOf } from '../operations.ts';
import { at, type Example } from './access-examples.ts';
import { EXAMPLE_IDS } from './example-ids.ts';

export const document = {
  document_key: EXAMPLE_IDS.document,
  revision: 2,
  fields: { title: 'Final', words: 1200 },
  created_at: at(0),
  updated_at: at(60),
};
const conflict = {
  field: 'title',
  winner: { value: 'Mine', origin: 'laptop', revision: 3 },
  loser: { value: 'Final', origin: 'phone', revision: 2 },
};

export const documentExamples: Readonly<Partial<Record<OperationOf<'documents'>, Example>>> = {
  putDocument: { body: { fields: document.fields } },
  patchDocument: {
    body: { fields: { title: 'Mine' }, base_revision: 1 },
    response: {
      ...document,
      revision: 3,
      fields: { ...document.fields, title: 'Mine' },
      deleted: false,
      conflicts: [conflict],
    },
  },
  sync: {
    body: {
      node_id: 'laptop',
      pattern: 'org:acme:*',
      push: [{ op: 'patch', document_key: 'org:acme:doc-2', base_revision: 4, fields: { done: true } }],
      known: { 'org:acme:doc-1': 1 },
    },
    response: {
      sync_id: 'syn_01M8HYRGEPS6GV91TMEPP49ZV9',
      results: [{ document_key: 'org:acme:doc-2', status: 'applied', revision: 5, conflicts: [] }],
      changes: [{ document_key: document.document_key, revision: 2, deleted: false, fields: document.fields }],
      cursor: null,
      has_more: false,
      checkpoint: 'TmV4dF9jaGVja3BvaW50X29mX3RoZV9yZXBsaWNh',
    },
  },
  renewConnection: {
    body: { node_id: 'laptop', document_key: EXAMPLE_IDS.document, user: 'user-7', lease_seconds: 60 },
    response: {
      connection_id: EXAMPLE_IDS.connection,
      node_id: 'laptop',
      document_key: EXAMPLE_IDS.document,
      user: 'user-7',
      lease_seconds: 60,
      connected_at: at(0),
      last_seen_at: at(30),
      expires_at: at(90),
    },
  },
  renewEngine: {
    body: {
      lease_seconds: 30,
      opened: [{ id: 'socket-8', node_id: 'laptop', document_key: EXAMPLE_IDS.document, user: 'user-7' }],
      closed: [{ id: 'socket-3' }, { id: 'socket-5', lost: true }],
    },
    response: {
      engine_id: EXAMPLE_IDS.engine,
      lease_seconds: 30,
      opened_at: at(0),
      last_seen_at: at(50),
      expires_at: at(80),
    },
  },
};
