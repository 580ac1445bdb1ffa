// The browser imports this file too, so it must stay small.

export const EVENT_TYPES = [
  'document.created',
  'document.changed',
  'document.deleted',
  'sync.conflict',
  'sync.completed',
  'connection.lost',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The meaning of each type in the API reference. */
export const EVENT_MEANINGS: Readonly<Record<EventType, string>> = {
  'document.created': 'A new document was created.',
  'document.changed': 'A document field was created, updated or deleted.',
  'document.deleted': 'An entire document was deleted.',
  'sync.conflict': 'A conflict was detected and resolved.',
  'sync.completed': 'A full sync cycle completed.',
  'connection.lost': 'A client disconnected unexpectedly.',
};

/** Descriptions of members that events, documents and sync share. */
export const MEANINGS = {
  documentKey: 'Key of the document: segments joined by `:`.',
  revision: 'Revision of the document: 1 when it is created, 1 more with every write that changes it.',
  baseRevision: 'The revision that the change is based on; 0 if the document did not exist.',
  fields: 'The fields of the document by name, with any JSON values.',
  conflicts: 'The fields that both sides changed to different values, with the winner.',
  nodeId: 'Identifies the replica. It is public and proves nothing.',
  origin: 'The node that made the change.',
} as const;
