import { expect, it } from 'vitest';
import { measureNeighbor, neighbors } from '../../support/neighbors.ts';

it.each(neighbors)('the first attempts of an event are not much later next to %s', async (name) => {
  const { alone, ratio } = await measureNeighbor(name);
  expect(alone).toBeGreaterThan(0);
  expect(ratio).toBeLessThan(1.5);
});
