import { expect, it } from 'vitest';
import { Signal } from '../../../infra/local/services/signal.ts';

const FOREVER_MS = 1_000_000;

it('a signal wakes all who wait for the next one, and those who come late not at all', async () => {
  const signal = new Signal();
  const waiting = [signal.beyond(0, FOREVER_MS), signal.beyond(0, FOREVER_MS)];
  signal.give();
  await Promise.all(waiting);
  await signal.beyond(0, FOREVER_MS); // it has happened since
  const next = signal.beyond(signal.count, FOREVER_MS).then(() => 'next');
  expect(await Promise.race([next, Promise.resolve('waits')])).toBe('waits');
  signal.give();
  expect([await next, signal.count]).toEqual(['next', 2]);
});

it('without a signal the wait ends by itself', async () => {
  await new Signal().beyond(0, 1);
});
