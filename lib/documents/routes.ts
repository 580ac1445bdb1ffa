// The browser imports this file too, so it must stay small.

import { READERS, REPLICAS, type Routes, WRITERS, WRITERS_AND_TOKENS } from '../http/route.ts';

const reads = { function: 'documents', callers: READERS, permissions: ['read'] } as const;
const writes = { function: 'documents', callers: WRITERS_AND_TOKENS, permissions: ['write'] } as const;
const syncs = { function: 'documents', callers: REPLICAS, permissions: ['read', 'write'] } as const;
const connections = { function: 'documents', callers: WRITERS_AND_TOKENS, permissions: ['read'] } as const;
const engines = { function: 'documents', callers: WRITERS, permissions: [] } as const;

export const documentRoutes = {
  listDocuments: { ...reads, method: 'GET', path: '/v1/documents' },
  getDocument: { ...reads, method: 'GET', path: '/v1/documents/{key}' },
  putDocument: { ...writes, method: 'PUT', path: '/v1/documents/{key}' },
  patchDocument: { ...writes, method: 'PATCH', path: '/v1/documents/{key}' },
  deleteDocument: { ...writes, method: 'DELETE', path: '/v1/documents/{key}' },
  sync: { ...syncs, method: 'POST', path: '/v1/sync' },
  renewConnection: { ...connections, method: 'PUT', path: '/v1/connections/{id}' },
  closeConnection: { ...connections, method: 'DELETE', path: '/v1/connections/{id}' },
  renewEngine: { ...engines, method: 'PUT', path: '/v1/engines/{id}' },
  closeEngine: { ...engines, method: 'DELETE', path: '/v1/engines/{id}' },
} as const satisfies Routes;
