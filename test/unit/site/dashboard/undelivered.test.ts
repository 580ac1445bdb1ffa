import fc from 'fast-check';
import { expect, it } from 'vitest';
import { undeliveredEvents } from '../../../../functions/site/dashboard/events/undelivered.ts';
import type { Call } from '../../../../functions/site/dashboard/state/api.ts';

/** The deliveries of a webhook, newest first, and the length of a page. */
interface Log {
  deliveries: { event_id: string; test: boolean }[];
  size: number;
}

/** The API with a webhook for each log. */
function serving(logs: readonly Log[]): Call {
  const webhooks = logs.map((_, i) => ({ id: String(i), status: 'enabled', failing_since: 'time' }));
  const call = async (route: string, { path, query }: { path: { id: string }; query: { cursor?: string } }) => {
    if (route === 'GET /v1/webhooks') return { value: { data: webhooks, next_cursor: null } };
    if (route === 'GET /v1/stats') return { value: { data: [] } };
    const { deliveries = [], size = 1 } = logs[Number(path.id)] ?? {};
    const [start, end] = [Number(query.cursor ?? 0), Number(query.cursor ?? 0) + size];
    const next_cursor = end < deliveries.length ? String(end) : null;
    return { value: { data: deliveries.slice(start, end), next_cursor } };
  };
  return call as unknown as Call;
}

it('lists each event once, newest first, with any pages of logs, also of test deliveries only', async () => {
  const delivery = fc.record({ event_id: fc.integer({ min: 10, max: 60 }).map(String), test: fc.boolean() });
  const deliveries = fc
    .uniqueArray(delivery, { selector: ({ event_id }) => event_id })
    .map((each) => each.sort((a, b) => Number(b.event_id) - Number(a.event_id)));
  const log = fc.record({ deliveries, size: fc.integer({ min: 1, max: 4 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(log, { maxLength: 3 }), fc.integer({ min: 1, max: 9 }), async (logs, count) => {
      const ids = logs.flatMap((each) => each.deliveries.flatMap(({ event_id, test }) => (test ? [] : event_id)));
      const expected = [...new Set(ids)].sort().reverse();
      const read = undeliveredEvents(serving(logs), {});
      for (const upTo of [count, count + 30]) {
        const { value } = await read(upTo);
        expect(value?.rows.map(({ id }) => id)).toEqual(expected.slice(0, upTo));
        expect(value?.next === null).toBe(expected.length <= upTo);
      }
    }),
  );
});
