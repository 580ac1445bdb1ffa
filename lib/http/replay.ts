import { hash } from 'node:crypto';
import { isJsonObject } from '../json.ts';
import { may } from './caller.ts';
import type { Operation, OperationResponse } from './operation.ts';
import { Problem } from './problems.ts';
import type { Request } from './request.ts';

/** How long a first response is replayed. */
export const REPLAY_MS = 24 * 60 * 60 * 1000;

/** The time after which an unfinished request counts as ended, because no function runs longer. */
export const RUNNING_MS = 30 * 1000;

/** A stored response for a replay, without secrets that are shown only once. */
export interface StoredResponse {
  status: number;
  body: string;
  headers: Record<string, string>;
  /** Whether another run of the request returns the body, which is not stored. */
  isRepeatable?: true;
}

/**
 * Two requests are the same if their operation, path, environment and body are, and if both callers receive what needs `read`. A
 * token without `read` must not receive a response that contains more. Some serializers write the members of an object in another
 * order each time, so the order does not count.
 */
export function fingerprintOf(operationId: string, request: Request): string {
  const { path, space, query, json, caller } = request;
  const content = [operationId, path, space.environment, query, json, may(caller, 'read')];
  const sorted = (_member: string, value: unknown) =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
  return hash('sha256', JSON.stringify(content, sorted), 'base64url');
}

/** What is stored for a replay. Members that are shown only once are `null`. */
export function replayable(response: OperationResponse, operation: Operation): StoredResponse {
  if (response.isRepeatable) return { ...storedResponse(response, operation), body: '', isRepeatable: true };
  if (operation.secrets.length === 0) return storedResponse(response, operation);
  const entries = Object.entries(response.body as object).map(([name, value]) =>
    operation.secrets.includes(name) ? [name, null] : [name, value],
  );
  return storedResponse({ ...response, body: Object.fromEntries(entries) }, operation);
}

export function storedResponse(
  { body, json, status, headers = {} }: OperationResponse,
  operation: Operation,
): StoredResponse {
  const text = json ?? (body === undefined ? '' : JSON.stringify(body));
  const contentType: Record<string, string> = text === '' ? {} : { 'Content-Type': 'application/json' };
  return {
    status: status ?? Number(Object.keys(operation.responses)[0]),
    body: text,
    headers: { ...contentType, ...headers },
  };
}

/** The consequence of an existing, unexpired record: the response to replay, or a problem, or `null` if the request takes over. */
export function replayOrReject(
  record: { fingerprint: string; runningUntil: number; response?: StoredResponse },
  fingerprint: string,
  nowMs: number,
): StoredResponse | Problem | null {
  if (record.fingerprint !== fingerprint) {
    return new Problem('idempotency_key_reused', 'Use a new Idempotency-Key for this request.');
  }
  if (record.response) return record.response;
  if (nowMs >= record.runningUntil) return null;
  return new Problem(
    'idempotency_in_progress',
    'Wait for the response to the first request with this Idempotency-Key.',
  );
}
