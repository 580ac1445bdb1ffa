import { expect, it } from 'vitest';
import { QUERIES } from '../../../lib/deliveries/addresses.ts';
import { ATTEMPT_TIMEOUT_MS } from '../../../lib/deliveries/attempt.ts';

it('no lookup ends before the time limit of an attempt, because the queries of c-ares take longer', () => {
  const { timeout, maxTimeout, tries } = QUERIES;
  const waits = Array.from({ length: tries }, (_, i) => Math.min(timeout * 2 ** i, maxTimeout));
  expect(waits.reduce((sum, ms) => sum + ms)).toBeGreaterThan(ATTEMPT_TIMEOUT_MS);
});
