import fc from 'fast-check';
import { expect, it } from 'vitest';
import { undeliveredEvents } from '../../../../functions/site/dashboard/events/undelivered.ts';
import type { Call } from '../../../../functions/site/dashboard/state/api.ts';

interface Logged {
  event_id: string;
  test: boolean;
}

/** The API with these webhooks. The log of each is a list of pages. */
function serving(logs: readonly (readonly Logged[])[][]): Call {
  const webhooks = logs.map((_, i) => ({ id: `whk_${i}`, status: 'enabled', failing_since: 'time' }));
  const call = async (route: string, { path, query }: { path: { id: string }; query: { cursor?: string } }) => {
    if (route === 'GET /v1/webhooks') return { value: { data: webhooks, next_cursor: null } };
    if (route === 'GET /v1/stats') return { value: { data: [] } };
    const pages = logs[Number(path.id.slice('whk_'.length))] ?? [];
    const page = Number(query.cursor ?? 0);
    return { value: { data: pages[page] ?? [], next_cursor: page + 1 < pages.length ? String(page + 1) : null } };
  };
  return call as unknown as Call;
}

const idsIn = (logs: readonly (readonly Logged[])[][]) => {
  const ids = logs.flat(2).flatMap(({ event_id, test }) => (test ? [] : event_id));
  return [...new Set(ids)].sort().reverse();
};

it('lists each event once, newest first, with any pages of logs, also of test deliveries only', async () => {
  const delivery = fc.record({ event_id: fc.integer({ min: 10, max: 60 }).map((n) => `evt_${n}`), test: fc.boolean() });
  const log = fc
    .tuple(fc.uniqueArray(delivery, { selector: ({ event_id }) => event_id }), fc.integer({ min: 1, max: 4 }))
    .map(([entries, size]) => {
      const sorted = entries.sort((a, b) => (a.event_id < b.event_id ? 1 : -1));
      return Array.from({ length: Math.ceil(sorted.length / size) }, (_, i) => sorted.slice(i * size, i * size + size));
    });
  await fc.assert(
    fc.asyncProperty(fc.array(log, { maxLength: 3 }), fc.integer({ min: 1, max: 9 }), async (logs, count) => {
      const expected = idsIn(logs);
      const read = undeliveredEvents(serving(logs), {});
      for (const upTo of [count, count + 30]) {
        const { value } = await read(upTo);
        expect(value?.rows.map(({ id }) => id)).toEqual(expected.slice(0, upTo));
        expect(value?.next === null).toBe(expected.length <= upTo);
      }
    }),
  );
});
