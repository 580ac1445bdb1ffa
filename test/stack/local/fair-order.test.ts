import { describe, expect, it } from 'vitest';
import { FairOrder } from '../../../infra/local/services/fair-order.ts';

function createOrder() {
  const clock = { ms: 1_000_000 };
  const order = new FairOrder<{ group: string | undefined; id: string; sentAt: number }>(() => clock.ms);
  const add = (group: string | undefined, count = 1) => {
    for (let i = 0; i < count; i++) order.add({ group, id: `${group ?? '-'}${i}`, sentAt: clock.ms });
  };
  const take = (count = 1) => Array.from({ length: count }, () => order.take()).filter((each) => each !== undefined);
  const takeIds = (count = 1) => take(count).map(({ id }) => id);
  return { clock, order, add, take, takeIds };
}

describe('a fair queue', () => {
  it('returns the oldest message first while no group is noisy', () => {
    const { add, takeIds } = createOrder();
    add('a', 2);
    add('b', 1);
    add(undefined, 1);
    expect(takeIds(5)).toEqual(['a0', 'a1', 'b0', '-0']);
  });

  it('returns messages of quiet groups first when a group has 30 messages and more than a tenth in flight', () => {
    const { add, take, takeIds } = createOrder();
    add('noisy', 60);
    take(29);
    add('quiet', 2);
    expect(takeIds(2)).toEqual(['noisy29', 'quiet0']);
    expect(takeIds(3)).toEqual(['quiet1', 'noisy30', 'noisy31']);
  });

  it('treats a group as quiet with 30 messages that are at most a tenth', () => {
    const { add, take, takeIds } = createOrder();
    for (let i = 0; i < 30; i++) add(`other${i}`, 10);
    take(300);
    add('many', 32);
    take(31);
    add('quiet');
    expect(takeIds(2)).toEqual(['many31', 'quiet0']);
  });

  it('treats a group as noisy when its few messages take more than a tenth of the time', () => {
    const { add, take, takeIds, order } = createOrder();
    add('slow', 3);
    add('quick', 1);
    const [slow] = take(1);
    if (slow) order.end(slow, 5000);
    expect(takeIds(3)).toEqual(['quick0', 'slow1', 'slow2']);
  });

  it('ignores slow processing after some minutes', () => {
    const { add, take, takeIds, order, clock } = createOrder();
    add('slow', 2);
    for (const message of take(1)) order.end(message, 2000);
    clock.ms += 240_000; // a sixteenth of it still counts
    add('slower', 2);
    for (const message of take(1)) order.end(message, 10_000);
    add('quick');
    expect(takeIds(3)).toEqual(['slow1', 'quick0', 'slower1']);
  });

  it('returns messages of the noisy group with the fewest in flight when all are noisy', () => {
    const { add, take, takeIds } = createOrder();
    add('a', 80);
    take(40);
    add('b', 60);
    take(30);
    expect(takeIds(3).map((id) => id[0])).toEqual(['b', 'b', 'b']);
  });

  it('treats a group as quiet after 5 minutes without messages', () => {
    const { add, take, takeIds, clock } = createOrder();
    add('a', 60);
    take(40);
    clock.ms += 300_001;
    add('b');
    expect(takeIds(1)).toEqual(['a40']);
  });

  it('treats messages without a group as quiet', () => {
    const { add, take, takeIds } = createOrder();
    add(undefined, 60);
    take(40);
    add('a');
    expect(takeIds(1)).toEqual(['-40']);
  });

  it('removes groups without messages', () => {
    const { add, take, order } = createOrder();
    for (let i = 0; i < 1000; i++) {
      add(`group${i}`);
      for (const message of take(1)) order.end(message, 1);
    }
    expect([order.groupCount, order.size]).toEqual([0, 0]);
  });
});
