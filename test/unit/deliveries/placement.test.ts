import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { LOG_PARTITIONS, logPartitionOf, logPartitions } from '../../../lib/aws/items.ts';
import { sortableId } from '../../../lib/ids.ts';

const at = Date.parse('2026-01-31T12:00:00.000Z');

it('spreads deliveries of one millisecond evenly over the partitions of a log, each always in the same partition', () => {
  const ids = Array.from({ length: 1600 }, () => sortableId('evt', at, randomBytes));
  const counts = new Map(logPartitions().map((partition) => [partition, 0]));
  for (const id of ids) {
    const partition = logPartitionOf(id);
    expect(partition).toBe(logPartitionOf(id));
    counts.set(partition, (counts.get(partition) ?? Number.NaN) + 1);
  }
  expect(counts.size).toBe(LOG_PARTITIONS);
  // About a hundred each, within seven standard deviations.
  for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(70);
});
