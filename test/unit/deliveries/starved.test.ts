import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import { endpoint } from '../../support/endpoints.ts';
import { message, now } from './builders.ts';
import { laneFunction } from './lane.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
/** A timer that counts the wait of an attempt without regard to the CPU: five of its ticks are more than a quick endpoint has. */
const TICK_MS = 100;
const TICKS = 5;

/** Uses the CPU in tasks of a few milliseconds, until a timer has fired several times. */
async function useCpu(): Promise<void> {
  let ticks = 0;
  const timer = setInterval(() => ticks++, TICK_MS);
  while (ticks < TICKS) {
    createHash('sha256').update(Buffer.alloc(1_000_000)).digest();
    await new Promise(setImmediate);
  }
  clearInterval(timer);
}

it.each([
  ['a quick endpoint keeps the quick lane', { quickSince: now - 1 }, now - 1],
  ['a new endpoint earns the quick lane', { quickSince: undefined }, expect.any(Number)],
])('%s in a function that is busy during its attempt', async (_, pace, quickSince) => {
  const { url } = await endpoint((socket) => void useCpu().then(() => socket.write(OK)));
  const lane = pace.quickSince ? 'quick' : 'new';
  const own = await laneFunction({ ...pace, url }, { lane });
  own.answer = httpPost('any');
  await own.run(message());
  expect(own.named('delivery.attempted')).toMatchObject([{ lane, status: 'succeeded' }]);
  const { slowUntil, quickSince: since } = (await own.hook()) ?? {};
  expect([since, slowUntil]).toEqual([quickSince, undefined]);
});
