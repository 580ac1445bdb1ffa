import { expect, it } from 'vitest';
import { comparison } from '../../../../functions/site/dashboard/deliveries/compare.ts';
import type { Delivery } from '../../../../functions/site/dashboard/state/api.ts';

type Attempt = Delivery['attempts'][number];
const first: Attempt = {
  number: 1,
  trigger: 'schedule',
  at: '2026-01-31T12:00:00.000Z',
  url: 'https://example.com/',
  status_code: 503,
  error: 'status_not_2xx',
  duration_ms: 12,
  request_headers: null,
  response_headers: { date: 'today', via: 'edge-1' },
  response_excerpt: 'Out of order',
};

it.each<[string, Partial<Attempt>, string]>([
  ['the same later', { response_headers: { date: 'tomorrow', via: 'edge-1' } }, 'Same response as to attempt 1.'],
  ['another body', { response_excerpt: 'Busy' }, 'Differs from attempt 1: body.'],
  [
    'headers that are others, new or gone',
    { response_headers: { date: 'tomorrow', server: 'nginx' } },
    'Differs from attempt 1: headers (server, via).',
  ],
  [
    'no response',
    { status_code: null, error: 'timeout', response_headers: null, response_excerpt: null },
    'Differs from attempt 1: outcome, body, headers (via).',
  ],
])('names the difference of an attempt with %s', (_, got, text) => {
  expect(comparison(first, { ...first, number: 2, ...got })).toBe(text);
});
