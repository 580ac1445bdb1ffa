import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PAGE, undeliveredEvents } from '../../../../functions/site/dashboard/events/undelivered.ts';
import type { Call } from '../../../../functions/site/dashboard/state/api.ts';
import { timeOf } from '../../../../lib/id-time.ts';

/** The deliveries of a webhook, newest first, and the length of a page. */
interface Log {
  deliveries: { event_id: string; test: boolean }[];
  size: number;
}

/**
 * The API with a webhook for each log. The first one is failing. The second one retries a delivery, and the third one has skipped
 * one. After a number of requests for logs, one fails.
 */
function serving(logs: readonly Log[], failing: { after: number }): Call {
  const webhooks = logs.map((_, i) => ({
    id: String(i),
    status: 'enabled',
    failing_since: i === 0 ? 'time' : null,
    retrying: i === 1 ? 1 : 0,
    undelivered: i === 2 ? 1 : 0,
  }));
  type Query = { cursor?: string; since: string; until: string };
  type Options = { path: { id: string }; query: Query };
  const call = async (route: string, { path, query }: Options) => {
    if (route === 'GET /v1/webhooks') return { value: { data: webhooks, next_cursor: null } };
    if (failing.after-- === 0) return { problem: { code: 'unavailable' } };
    if (route === 'GET /v1/events') return { value: eventsIn(query) };
    const { deliveries = [], size = 1 } = logs[Number(path.id)] ?? {};
    const [start, end] = [Number(query.cursor ?? 0), Number(query.cursor ?? 0) + size];
    const next_cursor = end < deliveries.length ? String(end) : null;
    return { value: { data: deliveries.slice(start, end), next_cursor } };
  };
  return call as unknown as Call;
}

/** A page of the events of a span. There are events that every webhook received between the others. */
function eventsIn({ since, until, cursor = '0' }: { since: string; until: string; cursor?: string }) {
  const ids = Array.from({ length: 51 }, (_, i) => String(60 - i));
  const isIn = (id: string) => timeOf(id) >= Date.parse(since) && timeOf(id) < Date.parse(until);
  const [start, end] = [Number(cursor), Number(cursor) + EVENTS_PAGE];
  const all = ids.filter(isIn).map((id) => ({ id, outcome: `outcome of ${id}` }));
  return { data: all.slice(start, end), next_cursor: end < all.length ? String(end) : null };
}
const EVENTS_PAGE = 7;

it('reads pages with each event once, newest first, for any logs, after a failure and in two reads at once', async () => {
  const delivery = fc.record({ event_id: fc.integer({ min: 10, max: 60 }).map(String), test: fc.boolean() });
  const deliveries = fc
    .uniqueArray(delivery, { selector: ({ event_id }) => event_id })
    .map((each) => each.sort((a, b) => Number(b.event_id) - Number(a.event_id)));
  const log = fc.record({ deliveries, size: fc.integer({ min: 1, max: 4 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(log, { maxLength: 3 }), fc.nat(9), fc.nat(8), async (logs, after, more) => {
      const count = more + 1;
      const ids = logs.flatMap((each) => each.deliveries.flatMap(({ event_id, test }) => (test ? [] : event_id)));
      const expected = [...new Set(ids)].sort().reverse();
      const pageUpTo = (count: number) => {
        const end = expected.length > count - PAGE ? count : PAGE; // the last page
        return expected.slice(Math.max(0, end - PAGE), end);
      };
      const failing = { after };
      const read = undeliveredEvents(serving(logs, failing), {});
      for (const upTo of [count, count + 30]) {
        const isBefore = failing.after >= 0;
        const first = await read(upTo);
        const hasFailed = isBefore && failing.after < 0;
        expect(first.problem?.code).toBe(hasFailed ? 'unavailable' : undefined);
        const { value } = hasFailed ? await read(upTo) : first;
        expect(value?.rows.map(({ id, outcome }) => [id, outcome])).toEqual(
          pageUpTo(upTo).map((id) => [id, `outcome of ${id}`]),
        );
        expect(value?.next === null).toBe(expected.length <= upTo);
      }
      const again = undeliveredEvents(serving(logs, { after: -1 }), {});
      const [fewer, all] = await Promise.all([again(count), again(count + 30)]);
      expect(fewer.value?.rows.map(({ id }) => id)).toEqual(pageUpTo(count));
      expect(all.value?.rows.map(({ id }) => id)).toEqual(pageUpTo(count + 30));
    }),
  );
});
