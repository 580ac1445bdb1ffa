import type { Operation } from '../api/operation.ts';
import { PROBLEMS, type ProblemCode } from '../api/problems.ts';

/** When each code comes, and what to do about it: the pages under `/docs/errors`. */
export const ADVICE: Readonly<Record<ProblemCode, string>> = {
  invalid_json: 'The body is not JSON in UTF-8, is cut off, or is nested deeper than 200 levels. Nothing was changed.',
  invalid_request:
    'Members or parameters are unknown, missing, of the wrong type or out of range. errors lists every fault with its field; nothing was changed.',
  invalid_cursor:
    'Cursors are opaque and belong to the list, the filters and the environment they came with. Begin again without one.',
  unauthorized:
    'There is no Authorization: Bearer header, or the credential in it is unknown, revoked, expired or malformed. Which of these it is, the answer does not say.',
  insufficient_permissions:
    'The credential is genuine but not for this: keys are managed with an admin key, read keys read documents, tokens have their own permissions, and every key but an admin key has one environment.',
  ip_not_allowed:
    'The key, or the parent key of the token, has an allowlist, and the address that the request came from is not on it.',
  document_not_allowed:
    'The patterns of the scoped token do not match the document, or do not cover the pattern of the sync. The answer is the same whether the document exists or not.',
  not_found: 'It does not exist, or belongs to another project or to the other environment.',
  route_not_found: 'No operation has this method and path. The API reference lists all of them.',
  conflict:
    'The state of the resource does not allow it now: a key that was rotated already, the last admin key, a webhook that is disabled, a field that changed since base_revision. detail says which.',
  precondition_failed:
    'The document does not have the revision that If-Match names, or exists although If-None-Match is *.',
  idempotency_key_reused: 'The Idempotency-Key came with another request within the last 24 hours. Use a new one.',
  idempotency_in_progress: 'The first request with this Idempotency-Key has not ended. Send it again after a moment.',
  limit_reached: 'There are as many as there may be; detail names the limit. Delete one first.',
  payload_too_large: 'Bodies may have 1 MiB, documents 128 KiB and 1,000 fields, events 256 KiB.',
  unsupported_media_type: 'Bodies are sent as Content-Type: application/json.',
  too_many_requests: 'The whole API has a rate limit. Send the request again after the seconds in Retry-After.',
  internal_error:
    'Something went wrong on our side, and the request may or may not have taken effect. Send it again with the same Idempotency-Key, which works at once; tell the operator the request_id.',
  unavailable:
    'The service could not finish. detail says whether nothing was done, or nobody knows. Send the request again after the seconds in Retry-After, with the same Idempotency-Key, which works at once.',
};

/** The codes that an operation may answer, in the order of their status. */
export function codesOf(operation: Operation): ProblemCode[] {
  const { method, path, callers, query, creates, problems } = operation;
  const codes = new Set<ProblemCode>([...problems, 'too_many_requests', 'internal_error', 'unavailable']);
  const add = (...more: ProblemCode[]) => more.forEach((code) => void codes.add(code));
  if (callers !== 'anyone') add('invalid_request', 'unauthorized', 'insufficient_permissions', 'ip_not_allowed');
  if (method !== 'GET') add('invalid_json', 'payload_too_large', 'unsupported_media_type');
  if ('cursor' in query) add('invalid_cursor');
  if (callers !== 'anyone' && path.includes('{')) add('not_found');
  if (creates) add('idempotency_key_reused', 'idempotency_in_progress');
  return [...codes].sort((a, b) => PROBLEMS[a].status - PROBLEMS[b].status || (a < b ? -1 : 1));
}
