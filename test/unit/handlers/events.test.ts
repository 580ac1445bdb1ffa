import { expect, it } from 'vitest';
import { connect } from '../../../lib/aws/backend.ts';
import { eventHandlers } from '../../../lib/events/handlers.ts';
import { parseJson } from '../../../lib/json.ts';
import { changed } from '../../support/changed.ts';
import { RecordedDynamoDb } from '../../support/memory-table.ts';
import { runtimeWith } from '../../support/runtime.ts';

const identity = { id: 'run-1', startedAt: Date.UTC(2026, 0, 31) };

/** Handlers on a table in memory, with an advancing clock. */
function handlers() {
  const db = new RecordedDynamoDb();
  let now = identity.startedAt;
  const runtime = runtimeWith(async (command) => db.execute(command), {
    clock: () => now++,
    random: (bytes) => new Uint8Array(bytes).fill(now),
  });
  const published = () => [...db.items()].filter(({ pk }) => String(pk).startsWith('EVENT#'));
  return { published, ...eventHandlers(connect(runtime)) };
}

it('publishes the same event when a request with an idempotency key is repeated', async () => {
  const { published, publishEvent } = handlers();
  const request = { body: changed(), space: { projectId: 'prj_1', environment: 'live' } };
  const responses = [1, 2].map(() => publishEvent(request as never, () => [], identity));
  const [first, second] = await Promise.all(responses);
  expect(second).toEqual(first);
  expect(published()).toHaveLength(1);
});

it('publishes a new event for each request without an idempotency key', async () => {
  const { published, publishEvent } = handlers();
  const request = { body: changed(), space: { projectId: 'prj_1', environment: 'live' } };
  for (let i = 0; i < 2; i++) await publishEvent(request as never, () => [], undefined);
  expect(published()).toHaveLength(2);
});

it('lists events with every digit of their numbers', async () => {
  const { published, publishEvent, listEvents } = handlers();
  const value = parseJson('[12345678901234567890,1e400,1.0]');
  const request = { body: changed({ note: value }), space: { projectId: 'prj_1', environment: 'live' }, query: {} };
  await publishEvent(request as never, () => [], undefined);
  const listed = await listEvents(request as never, () => [], undefined);
  expect(JSON.stringify(listed)).toBe(`{"body":{"data":[${published()[0]?.body}],"next_cursor":null}}`);
});
