import { expect, it } from 'vitest';
import type { ItemKey } from '../../../lib/aws/items.ts';
import type { Query, Table } from '../../../lib/aws/table.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import { newId } from '../../memory/contracts/builders.ts';

/** A log whose queries read many items, none of which matches the filter. The end is far away. */
const query = async ({ after }: Query) => ({
  items: [],
  next: { pk: 'HOOK#1', sk: (after as ItemKey | undefined)?.sk ?? newId('evt') },
});
const sparse = { query, batchGet: async () => [], now: () => 0 } as unknown as Table;

it.each([
  { status: 'failed' },
  { type: 'document.deleted' },
  { status: 'failed', type: 'document.deleted' },
] as const)('a page without a match is not the end of a log: %j', async (filter) => {
  const page = await deliveryLog(sparse).list('whk_1', { ...filter, limit: 10 });
  expect(page).toEqual({ deliveries: [], next: expect.any(String) });
});

it('a page without a match is not the end of a recovery', async () => {
  const window = { since: 0, until: Date.now(), stuckBefore: 0 };
  const { deliveries, next } = await deliveryLog(sparse).recoverable('whk_1', window, { limit: 10 });
  expect(deliveries).toEqual([]);
  expect(next).toMatchObject({ status: 'failed', after: expect.any(String) });
});
