import { expect, it } from 'vitest';
import { Signal } from '../../../infra/local/services/signal.ts';

const FOREVER_MS = 1_000_000;

it('resolves all waits for the next event, but no later ones', async () => {
  const signal = new Signal();
  const waiting = [signal.beyond(0, FOREVER_MS), signal.beyond(0, FOREVER_MS)];
  signal.give();
  await Promise.all(waiting);
  await signal.beyond(0, FOREVER_MS); // it has already happened
  const next = signal.beyond(signal.count, FOREVER_MS).then(() => 'next');
  expect(await Promise.race([next, Promise.resolve('waits')])).toBe('waits');
  signal.give();
  expect([await next, signal.count]).toEqual(['next', 2]);
});

it('ends a wait after the timeout', async () => {
  await new Signal().beyond(0, 1);
});
