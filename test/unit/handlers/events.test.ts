import { expect, it } from 'vitest';
import type { StoredEvent } from '../../../lib/events/event.ts';
import { type EventsDeps, eventHandlers } from '../../../lib/events/handlers.ts';
import { parseJson } from '../../../lib/json.ts';
import { changed } from '../../support/changed.ts';

const identity = { id: 'run-1', startedAt: Date.UTC(2026, 0, 31) };

/** Handlers that record published events, with an advancing clock. */
function handlers() {
  const published: StoredEvent[] = [];
  let now = identity.startedAt;
  const events = {
    publish: async (all: readonly StoredEvent[]) => void published.push(...all),
    list: async () => ({ events: published, next: undefined }),
  };
  const deps = { events, clock: () => now++, random: (bytes: number) => new Uint8Array(bytes).fill(now) };
  return { published, ...eventHandlers(deps as unknown as EventsDeps) };
}

it('publishes the same event when a request with an idempotency key is repeated', async () => {
  const { published, publishEvent } = handlers();
  const request = { body: changed(), space: { projectId: 'prj_1', environment: 'live' } };
  const responses = [1, 2].map(() => publishEvent(request as never, () => [], identity));
  const [first, second] = await Promise.all(responses);
  expect(second).toEqual(first);
  expect(new Set(published.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
});

it('publishes a new event for each request without an idempotency key', async () => {
  const { published, publishEvent } = handlers();
  const request = { body: changed(), space: { projectId: 'prj_1', environment: 'live' } };
  for (let i = 0; i < 2; i++) await publishEvent(request as never, () => [], undefined);
  expect(new Set(published.map(({ id }) => id)).size).toBe(2);
});

it('lists events with every digit of their numbers', async () => {
  const { published, publishEvent, listEvents } = handlers();
  const value = parseJson('[12345678901234567890,1e400,1.0]');
  const request = { body: changed({ note: value }), space: { projectId: 'prj_1', environment: 'live' }, query: {} };
  await publishEvent(request as never, () => [], undefined);
  const listed = await listEvents(request as never, () => [], undefined);
  expect(JSON.stringify(listed)).toBe(`{"body":{"data":[${published[0]?.body}],"next_cursor":null}}`);
});
