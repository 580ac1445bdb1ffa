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
