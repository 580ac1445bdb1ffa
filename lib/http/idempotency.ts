import { hash } from 'node:crypto';
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
}

/** The record of an idempotency key. */
export interface IdempotencyRecord {
  fingerprint: string;
  /** Identifies the request in every run. */
  runId: string;
  /** When its first run began. */
  startedAt: number;
  expiresAt: number;
  runningUntil: number;
  response?: StoredResponse | undefined;
}

/**
 * The identity of a request with an idempotency key. A repetition after an unknown outcome has the same identity.
 */
export interface RequestIdentity {
  id: string;
  startedAt: number;
}

/** Two requests are the same if their operation, path, environment and body are. */
export function fingerprintOf(operationId: string, { path, space: { environment }, query, rawBody }: Request): string {
  return hash('sha256', JSON.stringify([operationId, path, environment, query, rawBody]), 'base64url');
}

/** The consequence of an existing, unexpired record: the response to replay, or a problem, or `null` if the request takes over. */
export function replayOrReject(
  record: IdempotencyRecord,
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
