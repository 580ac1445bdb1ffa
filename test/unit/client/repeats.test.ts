import { expect, it } from 'vitest';
import { apiOperations } from '../../../lib/api/operations.ts';
import { isRepeatable, takesKey } from '../../../lib/client/repeats.ts';

it('sends an Idempotency-Key to exactly the operations that support it', () => {
  const names = (takes: (operation: (typeof apiOperations)[number]) => boolean) =>
    apiOperations.filter(takes).map(({ method, path }) => `${method} ${path}`);
  expect(names(({ method, path }) => takesKey(method, path))).toEqual(names((operation) => operation.idempotencyKey));
});

it.each([
  ['GET', '/v1/webhooks', undefined, true],
  ['POST', '/v1/tokens/verify', undefined, true],
  ['PATCH', '/v1/documents/{key}', undefined, true],
  ['PATCH', '/v1/webhooks/{id}', undefined, false],
  ['POST', '/v1/keys/{key}/allowlist', undefined, false],
  ['POST', '/v1/keys/{key}/revoke', undefined, false],
  ['DELETE', '/v1/webhooks/{id}', undefined, false],
  ['PUT', '/v1/connections/{id}', undefined, false],
  ['POST', '/v1/sync', { push: [{}] }, false],
  ['POST', '/v1/sync', { push: [{}], sync_id: null }, false],
  ['POST', '/v1/sync', { push: [{}], sync_id: 'cycle' }, true],
  ['POST', '/v1/sync', { push: [{}], cursor: 'page' }, true],
  ['POST', '/v1/sync', { push: [] }, true],
])('knows whether %s %s with %j can act twice', (method, path, body, expected) => {
  expect(isRepeatable(method, path, body)).toBe(expected);
});
