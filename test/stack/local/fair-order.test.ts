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
  it('hands out the oldest first while nobody is noisy, of whatever group', () => {
    const { add, takeIds } = createOrder();
    add('a', 2);
    add('b', 1);
    add(undefined, 1);
    expect(takeIds(5)).toEqual(['a0', 'a1', 'b0', '-0']);
  });

  it('hands out those of quiet groups first once a group has 30 and more than a tenth in flight', () => {
    const { add, take, takeIds } = createOrder();
    add('noisy', 60);
    take(29);
    add('quiet', 2);
    expect(takeIds(2)).toEqual(['noisy29', 'quiet0']);
    expect(takeIds(3)).toEqual(['quiet1', 'noisy30', 'noisy31']);
  });

  it('calls nobody noisy whose 30 are no more than a tenth', () => {
    const { add, take, takeIds } = createOrder();
    for (let i = 0; i < 30; i++) add(`other${i}`, 10);
    take(300);
    add('many', 32);
    take(31);
    add('quiet');
    expect(takeIds(2)).toEqual(['many31', 'quiet0']);
  });

  it('calls a group noisy whose few messages take more than a tenth of the time', () => {
    const { add, take, takeIds, order } = createOrder();
    add('slow', 3);
    add('quick', 1);
    const [slow] = take(1);
    if (slow) order.end(slow, 5000);
    expect(takeIds(3)).toEqual(['quick0', 'slow1', 'slow2']);
  });

  it('forgets slowness in some minutes', () => {
    const { add, take, takeIds, order, clock } = createOrder();
    add('slow', 2);
    for (const message of take(1)) order.end(message, 2000);
    clock.ms += 240_000; // a sixteenth of it counts
    add('slower', 2);
    for (const message of take(1)) order.end(message, 10_000);
    add('quick');
    expect(takeIds(3)).toEqual(['slow1', 'quick0', 'slower1']);
  });

  it('hands out those of the noisy group with the fewest in flight where all are noisy', () => {
    const { add, take, takeIds } = createOrder();
    add('a', 80);
    take(40);
    add('b', 60);
    take(30);
    expect(takeIds(3).map((id) => id[0])).toEqual(['b', 'b', 'b']);
  });

  it('calls nobody noisy who has sent nothing for 5 minutes', () => {
    const { add, take, takeIds, clock } = createOrder();
    add('a', 60);
    take(40);
    clock.ms += 300_001;
    add('b');
    expect(takeIds(1)).toEqual(['a40']);
  });

  it('never calls messages without a group noisy', () => {
    const { add, take, takeIds } = createOrder();
    add(undefined, 60);
    take(40);
    add('a');
    expect(takeIds(1)).toEqual(['-40']);
  });

  it('remembers no group that has nothing waiting or in flight', () => {
    const { add, take, order } = createOrder();
    for (let i = 0; i < 1000; i++) {
      add(`group${i}`);
      for (const message of take(1)) order.end(message, 1);
    }
    expect([order.groupCount, order.size]).toEqual([0, 0]);
  });
});
