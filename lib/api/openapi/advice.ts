import type { Operation } from '../../http/operation.ts';
import { PROBLEMS, type ProblemCode } from '../../http/problems.ts';

/** The cause and the solution of each code, for the page `/docs/errors`. Code is in backticks. */
export const ADVICE: Readonly<Record<ProblemCode, string>> = {
  invalid_json:
    'The body is not JSON in UTF-8, is truncated, or is nested more than 200 levels deep. Nothing was changed.',
  invalid_request:
    'Fields or parameters are unknown, missing, of the wrong type or out of range. `errors` lists all of them with their `field`. Nothing was changed.',
  invalid_cursor:
    'Cursors are opaque and belong to one list with its filters and environment. Start again without one.',
  unauthorized:
    'There is no `Authorization: Bearer` header, or its credential is unknown, revoked, expired or malformed. The response does not say which.',
  insufficient_permissions:
    'The credential is valid, but not for this operation. Keys are managed with an admin key, read keys only read documents, tokens have their own permissions, and every key except an admin key belongs to one environment.',
  ip_not_allowed:
    'The key, or the parent key of the token, has an allowlist that does not include the IP address of the request.',
  project_suspended:
    'The operator suspended the project. No credential of the project works, and its webhooks receive nothing. Contact the operator.',
  document_not_allowed:
    'The patterns of the scoped token do not match the document, or do not cover the pattern of the sync. The response is the same whether or not the document exists, and for names that cannot be a document key.',
  not_found: 'The resource does not exist, or belongs to another project or environment.',
  route_not_found: 'There is no operation with this method and path. See the API reference for all operations.',
  method_not_allowed: 'This path has no operation with this method. The header `Allow` lists the methods that it has.',
  conflict:
    'The current state of the resource does not allow this: a key that was already rotated, the last admin key without an expiry, a disabled webhook, a project without a working address, a field that changed since `base_revision`. `detail` says which.',
  resync_required:
    'The operator restored the service to an earlier state after this checkpoint or cursor. Synchronize again without `since` and `cursor`, and replace all documents of the replica with the received ones.',
  precondition_failed:
    'The document does not have the revision in `If-Match`, or it exists although `If-None-Match` is `*`.',
  idempotency_key_reused:
    'The `Idempotency-Key` was used for a different request within the last 24 hours. Use a new one.',
  idempotency_in_progress: 'The first request with this `Idempotency-Key` is still in progress. Send it again shortly.',
  limit_reached: 'A limit is reached. `detail` states the limit and the solution.',
  payload_too_large:
    'Every operation has a limit for its body, which the API reference and `detail` state: 16 KiB, 64 KiB or 1 MiB. Documents have at most 128 KiB and 1,000 fields, and events at most 256 KiB.',
  unsupported_media_type: 'Send bodies with `Content-Type: application/json`.',
  too_many_requests:
    'The API has a rate limit. A project also has a limit of deliveries, in which each event counts once for every subscribed webhook. Over it, requests that publish events return this code. Nothing was changed, except that `PUT /v1/engines/{id}` renews the lease, and `detail` says which of its changes were made. Send the request again after the number of seconds in `Retry-After`.',
  internal_error:
    'An internal failure occurred, and the request may have taken effect. Send it again, a write with the same `Idempotency-Key`. You do not have to wait. Give the `request_id` to the operator.',
  unavailable:
    'The service could not finish the request. `detail` says whether nothing was changed, or whether that is unknown. Send the request again after the number of seconds in `Retry-After`, a write with the same `Idempotency-Key`.',
};

/** The codes that an operation can return, in the order of their status. */
export function codesOf(operation: Operation): ProblemCode[] {
  const { method, path, callers, query, idempotencyKey, problems } = operation;
  const codes = new Set<ProblemCode>([...problems, 'too_many_requests', 'internal_error', 'unavailable']);
  const add = (...more: ProblemCode[]) => more.forEach((code) => void codes.add(code));
  if (callers !== 'anyone')
    add('invalid_request', 'unauthorized', 'insufficient_permissions', 'ip_not_allowed', 'project_suspended');
  if (method !== 'GET') add('invalid_json', 'payload_too_large', 'unsupported_media_type');
  if ('cursor' in query) add('invalid_cursor');
  if (callers !== 'anyone' && path.includes('{')) add('not_found');
  if (idempotencyKey) add('idempotency_key_reused', 'idempotency_in_progress');
  return [...codes].sort((a, b) => PROBLEMS[a].status - PROBLEMS[b].status || (a < b ? -1 : 1));
}
