import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../lib/http/idempotency-store.ts';
import { operations } from '../../../lib/http/operations.ts';
import { Problem } from '../../../lib/http/problems.ts';
import { parseRequest } from '../../../lib/http/request.ts';
import { type Given, proxyEvent } from './builders.ts';

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
