import * as v from 'valibot';
import { entityTags } from '../http/etag.ts';
import { listOf, MAX_BODY_BYTES, operationsOf, pageQuery } from '../http/operation.ts';
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
import { EngineResource, engineParameter, RenewEngine } from './engines.ts';
import { documentRoutes } from './routes.ts';
import { SyncCycle, SyncResult } from './sync.ts';

const ifNoneMatch =
  'Performs the request only if the document does not have this ETag, or with `*`, if it does not exist.';
const writing = {
  'If-Match': v.optional(
    described(entityTags, 'Performs the request only if the document has this ETag, or with `*`, if it exists.'),
  ),
  'If-None-Match': v.optional(described(entityTags, ifNoneMatch)),
  'X-Node-Id': v.optional(described(NodeId, 'Identifies the replica that writes. The default is the credential.')),
};

export const documentOperations = operationsOf(documentRoutes, {
  listDocuments: {
    summary: 'List documents, optionally with a key prefix',
    query: {
      ...pageQuery,
      prefix: v.optional(
        described(
          KeyPrefix,
          'Only the document with this key, and documents whose keys start with this prefix and `:`.',
        ),
      ),
    },
    responses: { 200: listOf(DocumentResource) },
    problems: ['document_not_allowed'],
  },
  getDocument: {
    parameters: { key: documentParameter },
    summary: 'Read a document',
    headers: { 'If-None-Match': v.optional(described(v.string(), ifNoneMatch)) },
    responseHeaders: ['ETag'],
    responses: { 200: DocumentResource, 304: null },
    problems: ['document_not_allowed'],
  },
  putDocument: {
    publishes: true,
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
  },
  patchDocument: {
    publishes: true,
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
  },
  deleteDocument: {
    publishes: true,
    parameters: { key: documentParameter },
    summary: 'Delete a document',
    headers: writing,
    responses: { 204: null },
    idempotencyKey: true,
    problems: ['document_not_allowed', 'precondition_failed'],
  },
  sync: {
    summary: 'Push changes and pull differences',
    body: SyncCycle,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 200: SyncResult },
    publishes: 'push',
    problems: ['document_not_allowed', 'invalid_cursor', 'conflict', 'resync_required'],
  },
  renewConnection: {
    parameters: { id: connectionParameter },
    summary: 'Open a connection or renew its lease',
    body: RenewConnection,
    responses: { 200: ConnectionResource },
    problems: ['conflict', 'document_not_allowed'],
  },
  closeConnection: {
    parameters: { id: connectionParameter },
    summary: 'Close a connection',
    responses: { 204: null },
    problems: ['conflict'],
  },
  renewEngine: {
    parameters: { id: engineParameter },
    summary: 'Open or renew the lease of a sync engine, and open and close its connections',
    body: RenewEngine,
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 200: EngineResource },
  },
  closeEngine: {
    parameters: { id: engineParameter },
    summary: 'Close a sync engine and its connections without events',
    responses: { 204: null },
  },
});
