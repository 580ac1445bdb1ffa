import * as v from 'valibot';
import { KeyPrefix } from '../access/patterns.ts';
import { ConnectionResource, NodeId, RenewConnection } from '../documents/connections.ts';
import { DocumentResource, MergedDocument, PatchDocument, PutDocument } from '../documents/documents.ts';
import { SyncRequest, SyncResponse } from '../documents/sync.ts';
import { listOf, operation, page, READERS, WRITERS_AND_TOKENS } from './operation.ts';
import { connectionParameter, documentParameter } from './parameters.ts';

const reads = { function: 'documents', callers: READERS, permissions: ['read'] } as const;
const writes = { function: 'documents', callers: WRITERS_AND_TOKENS, permissions: ['write'] } as const;

const writing = {
  'If-Match': v.optional(v.string()),
  'If-None-Match': v.optional(v.string()),
  'X-Node-Id': v.optional(NodeId),
};

export const documentOperations = {
  listDocuments: operation({
    ...reads,
    method: 'GET',
    path: '/v1/documents',
    summary: 'List documents, all or below a prefix that ends at a segment',
    query: { ...page, prefix: v.optional(KeyPrefix) },
    responses: { 200: listOf(DocumentResource) },
  }),
  getDocument: operation({
    ...reads,
    method: 'GET',
    path: '/v1/documents/{key}',
    parameters: { key: documentParameter },
    summary: 'Read a document; If-None-Match responses 304',
    headers: { 'If-None-Match': v.optional(v.string()) },
    responses: { 200: DocumentResource, 304: null },
    refusals: ['document_not_allowed'],
  }),
  putDocument: operation({
    ...writes,
    method: 'PUT',
    path: '/v1/documents/{key}',
    parameters: { key: documentParameter },
    summary: 'Create or replace a document',
    headers: writing,
    body: PutDocument,
    responses: { 200: DocumentResource, 201: DocumentResource },
    refusals: ['document_not_allowed', 'precondition_failed'],
  }),
  patchDocument: operation({
    ...writes,
    method: 'PATCH',
    path: '/v1/documents/{key}',
    parameters: { key: documentParameter },
    summary: 'Merge fields into a document; null removes one',
    headers: writing,
    body: PatchDocument,
    responses: { 200: MergedDocument, 201: MergedDocument },
    refusals: ['document_not_allowed', 'precondition_failed', 'conflict'],
  }),
  deleteDocument: operation({
    ...writes,
    method: 'DELETE',
    path: '/v1/documents/{key}',
    parameters: { key: documentParameter },
    summary: 'Delete a document',
    headers: writing,
    responses: { 204: null },
    refusals: ['document_not_allowed', 'precondition_failed'],
  }),
  sync: operation({
    ...reads,
    permissions: ['read', 'write'],
    method: 'POST',
    path: '/v1/sync',
    summary: 'Push changes and pull what differs, in pages',
    body: SyncRequest,
    responses: { 200: SyncResponse },
    refusals: ['document_not_allowed', 'invalid_cursor', 'conflict'],
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
    refusals: ['conflict'],
  }),
  closeConnection: operation({
    ...reads,
    callers: WRITERS_AND_TOKENS,
    method: 'DELETE',
    path: '/v1/connections/{id}',
    parameters: { id: connectionParameter },
    summary: 'Close a connection',
    responses: { 204: null },
    refusals: ['conflict'],
  }),
};
