import { describe, expect, it } from 'vitest';
import { FairOrder } from '../../../infra/local/services/fair-order.ts';

function createOrder() {
  const order = new FairOrder<{ group: string | undefined; id: string }>();
  const add = (group: string | undefined, count = 1) => {
    for (let i = 0; i < count; i++) order.add({ group, id: `${group ?? '-'}${i}` });
  };
  const take = (count = 1) => Array.from({ length: count }, () => order.take()).filter((each) => each !== undefined);
  const takeIds = (count = 1) => take(count).map(({ id }) => id);
  return { order, add, take, takeIds };
}

describe('a fair queue', () => {
  it('returns the oldest message of the groups with the fewest messages in flight', () => {
    const { add, takeIds } = createOrder();
    add('noisy', 3);
    add('quiet', 2);
    expect(takeIds(2)).toEqual(['noisy0', 'quiet0']);
    add('new');
    expect(takeIds(5)).toEqual(['new0', 'noisy1', 'quiet1', 'noisy2']);
  });

  it('lets a group continue when its messages have ended', () => {
    const { add, take, takeIds, order } = createOrder();
    add('a', 3);
    for (const message of take(2)) order.end(message);
    add('b');
    expect(takeIds(2)).toEqual(['a2', 'b0']);
  });

  it('never delays messages without a group', () => {
    const { add, take, takeIds } = createOrder();
    add(undefined, 60);
    take(40);
    add('a');
    expect(takeIds(1)).toEqual(['-40']);
  });
});
