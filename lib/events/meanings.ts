/** Descriptions of members that events, documents and sync share. */
export const MEANINGS = {
  documentKey: 'Key of the document: segments joined by `:`.',
  revision: 'Revision of the document: 1 when it is created, 1 more with every write that changes it.',
  baseRevision: 'The revision that the change is based on; 0 if the document did not exist.',
  fields: 'The fields of the document by name, with any JSON values.',
  conflicts: 'The fields that both sides changed to different values, with the winner.',
  nodeId: 'Identifies the replica. It grants nothing.',
  origin: 'The node that made the change.',
} as const;
