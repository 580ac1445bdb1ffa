import * as v from 'valibot';
import { listOf, MAX_BODY_BYTES, operation, page, READERS, WRITERS_AND_TOKENS } from '../http/operation.ts';
import { described } from '../schema.ts';
import { ConnectionResource, connectionParameter, NodeId, RenewConnection } from './connections.ts';
import {
  DocumentResource,
  documentParameter,
  KeyPrefix,
  MergedDocument,
  PatchDocument,
  PutDocument,
} from './document.ts';
import { SyncCycle, SyncResult } from './sync.ts';

const reads = { function: 'documents', callers: READERS, permissions: ['read'] } as const;
const writes = {
  function: 'documents',
  callers: WRITERS_AND_TOKENS,
  permissions: ['write'],
  publishes: true,
} as const;

const ifNoneMatch = described(
  v.string(),
  'Performs the request only if the document does not have this ETag, or with `*`, if it does not exist.',
);
const writing = {
  'If-Match': v.optional(
    described(v.string(), 'Performs the request only if the document has this ETag, or with `*`, if it exists.'),
  ),
  'If-None-Match': v.optional(ifNoneMatch),
  'X-Node-Id': v.optional(described(NodeId, 'Identifies the replica that writes. The default is the credential.')),
};

export const documentOperations = {
  listDocuments: operation({
    ...reads,
    method: 'GET',
    path: '/v1/documents',
    summary: 'List documents, optionally with a key prefix',
    query: {
      ...page,
      prefix: v.optional(
        described(
          KeyPrefix,
          'Only the document with this key, and documents whose keys start with this prefix and `:`.',
        ),
      ),
    },
    responses: { 200: listOf(DocumentResource) },
    problems: ['document_not_allowed'],
  }),
  getDocument: operation({
    ...reads,
    method: 'GET',
    path: '/v1/documents/{key}',
    parameters: { key: documentParameter },
    summary: 'Read a document',
    headers: { 'If-None-Match': v.optional(ifNoneMatch) },
    responseHeaders: ['ETag'],
    responses: { 200: DocumentResource, 304: null },
    problems: ['document_not_allowed'],
  }),
  putDocument: operation({
    ...writes,
    method: 'PUT',
    path: '/v1/documents/{key}',
    parameters: { key: documentParameter },
    summary: 'Create or replace a document',
    headers: writing,
    responseHeaders: ['ETag'],
    body: PutDocument,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 200: DocumentResource, 201: DocumentResource },
    location: '/v1/documents/{document_key}',
    idempotencyKey: true,
    problems: ['document_not_allowed', 'precondition_failed'],
  }),
  patchDocument: operation({
    ...writes,
    method: 'PATCH',
    path: '/v1/documents/{key}',
    parameters: { key: documentParameter },
    summary: 'Merge fields into a document',
    headers: writing,
    responseHeaders: ['ETag'],
    body: PatchDocument,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 200: MergedDocument, 201: MergedDocument },
    location: '/v1/documents/{document_key}',
    idempotencyKey: true,
    problems: ['document_not_allowed', 'precondition_failed', 'conflict'],
  }),
  deleteDocument: operation({
    ...writes,
    method: 'DELETE',
    path: '/v1/documents/{key}',
    parameters: { key: documentParameter },
    summary: 'Delete a document',
    headers: writing,
    responses: { 204: null },
    idempotencyKey: true,
    problems: ['document_not_allowed', 'precondition_failed'],
  }),
  sync: operation({
    ...reads,
    permissions: ['read', 'write'],
    method: 'POST',
    path: '/v1/sync',
    summary: 'Push changes and pull differences',
    body: SyncCycle,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 200: SyncResult },
    publishes: 'push',
    problems: ['document_not_allowed', 'invalid_cursor', 'conflict', 'resync_required'],
  }),
  renewConnection: operation({
    ...reads,
    callers: WRITERS_AND_TOKENS,
    method: 'PUT',
    path: '/v1/connections/{id}',
    parameters: { id: connectionParameter },
    summary: 'Open a connection or renew its lease',
    body: RenewConnection,
    responses: { 200: ConnectionResource },
    problems: ['conflict', 'document_not_allowed'],
  }),
  closeConnection: operation({
    ...reads,
    callers: WRITERS_AND_TOKENS,
    method: 'DELETE',
    path: '/v1/connections/{id}',
    parameters: { id: connectionParameter },
    summary: 'Close a connection',
    responses: { 204: null },
    problems: ['conflict'],
  }),
};
