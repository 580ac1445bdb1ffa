import { describe, expect, it } from 'vitest';
import { fingerprintOf, type IdempotencyRecord, replayOrReject } from '../../../lib/http/idempotency.ts';
import { operations } from '../../../lib/http/operations.ts';
import { Problem } from '../../../lib/http/problems.ts';
import { parseRequest } from '../../../lib/http/request.ts';
import { type Given, proxyEvent } from './builders.ts';

const now = Date.parse('2026-01-31T12:00:00.000Z');

describe('two requests', () => {
  const fingerprint = (given: Given = {}, operationId = 'getKey') => {
    const event = proxyEvent({ pathParameters: { key: 'key_0123456789ab' }, ...given });
    const request = parseRequest(event, operations.getKey);
    if (request instanceof Problem) throw new Error(request.detail);
    return fingerprintOf(operationId, request);
  };

  it.each<[string, Given]>([
    ['the environment by name', { queryStringParameters: { environment: 'live' } }],
    ['another key of the project', { authorizer: { project_id: 'prj_1', key_id: 'key_2', caller: 'admin' } }],
    ['other headers', { headers: { 'X-Other': '1' } }],
  ])('have the same fingerprint with %s', (_, given) => {
    expect(fingerprint(given)).toBe(fingerprint());
  });

  it.each<[string, Given, string?]>([
    ['environment', { queryStringParameters: { environment: 'sandbox' } }],
    ['path', { pathParameters: { key: 'key_ba9876543210' } }],
    ['operation', {}, 'listKeys'],
  ])('have different fingerprints with different %s', (_, given, operationId) => {
    expect(fingerprint(given, operationId)).not.toBe(fingerprint());
  });
});

describe('a request under a known idempotency key', () => {
  const response = { status: 201, body: '{}', headers: {} };
  const record = (overrides: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
    fingerprint: 'same',
    runId: 'run',
    startedAt: now - 1000,
    expiresAt: now + 1000,
    runningUntil: now + 500,
    ...overrides,
  });

  it.each<[string, IdempotencyRecord, unknown]>([
    ['gets the stored response', record({ response }), response],
    ['gets it although the first run could still be at work', record({ response, runningUntil: now + 1 }), response],
    ['waits while the first run is at work', record(), { code: 'idempotency_in_progress' }],
    ['takes over when that run is dead', record({ runningUntil: now }), null],
    ['is refused if it is another request', record({ fingerprint: 'other' }), { code: 'idempotency_key_reused' }],
    [
      'is refused even if there is a response',
      record({ fingerprint: 'other', response }),
      { code: 'idempotency_key_reused' },
    ],
  ])('%s', (_, stored, expected) => {
    const outcome = replayOrReject(stored, 'same', now);
    if (expected === null) expect(outcome).toBeNull();
    else expect(outcome).toMatchObject(expected as object);
  });
});
