import { expect, it } from 'vitest';
import { baseUrlOf, locationHeader } from '../../../lib/http/base-url.ts';

it('the base URL is empty without its variable, as during an upgrade, so that links are relative', () => {
  expect(baseUrlOf({ variables: { BASE_URL: 'https://api.example.com' } })).toBe('https://api.example.com');
  const baseUrl = baseUrlOf({ variables: {} });
  const created = { statusCode: 201, body: '{"id":"whk_1"}' };
  expect(locationHeader(created, { location: '/v1/webhooks/{id}' }, baseUrl)).toEqual({
    Location: '/v1/webhooks/whk_1',
  });
});
