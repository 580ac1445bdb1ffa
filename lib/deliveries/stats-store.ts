import { hash } from 'node:crypto';
import { any, type Condition, increased, isAbsent, isBelow, update } from '../aws/expressions.ts';
import { type Item, itemKey, timeToLive } from '../aws/items.ts';
import { rangeQuery } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import {
  COUNT_NAMES,
  type Counts,
  PERIOD_MS,
  type PeriodCounts,
  STATS_KEPT_MS,
  type StatsRange,
  sumOf,
  type Tally,
} from './stats.ts';

/** The maximum digits of sequence numbers in a stream (DynamoDB Streams API, `StreamRecord`). */
const SEQUENCE_DIGITS = 40;

/**
 * Stats of webhooks by hour and day. For each shard of the stream, an item stores the last change that it includes. The changes
 * of a shard arrive in order the first time (Lambda Developer Guide, "Implementing stateful DynamoDB stream processing"). An
 * earlier change is therefore a repetition, in any batch.
 */
export function stats(table: Table) {
  return {
    /** Adds changes that the stats do not include yet, so a repetition is harmless. `shard` is the shard of the changes. */
    async add({ webhookId, period, start, entries }: Tally, shard: string): Promise<void> {
      const position = positionOf(shard);
      const key = itemKey.stats(webhookId, period, start);
      const expires = timeToLive(start + PERIOD_MS[period] + STATS_KEPT_MS[period]);
      const writeOf = (rest: Tally['entries'], last: string, condition: Condition): Write => {
        const counts = Object.entries(sumOf(rest)).map(([name, count]) => [name, increased(count)]);
        return update(key, { ...Object.fromEntries(counts), [position]: last, expires }, condition);
      };
      let rest = entries.map((entry) => ({ ...entry, sequence: entry.sequence.padStart(SEQUENCE_DIGITS, '0') }));
      for (;;) {
        const [first, last] = [rest.at(0), rest.at(-1)];
        if (!first || !last) return;
        const isAfter = any(isAbsent(position), isBelow(position, first.sequence));
        const [rejected] = await table.write([writeOf(rest, last.sequence, isAfter)]);
        if (!rejected) return;
        const counted = String(rejected.item?.[position]);
        rest = rest.filter(({ sequence }) => sequence > counted);
      }
    },

    /**
     * Reads the stats of the periods that start at `from` or later and before `to`, oldest first. Eventually consistent at half
     * the price, because stats are late anyway.
     */
    async list(webhookId: string, { by, from, to }: StatsRange): Promise<PeriodCounts[]> {
      const { pk, sk: first } = itemKey.stats(webhookId, by, from);
      const { sk: last } = itemKey.stats(webhookId, by, to - 1);
      const all = { ...rangeQuery(pk, { first, last }), ConsistentRead: false };
      const periods: PeriodCounts[] = [];
      for await (const item of table.queryAll(all)) {
        periods.push({ start: Date.parse(String(item.sk).split('#')[1] ?? ''), counts: countsIn(item) });
      }
      return periods;
    },
  };
}

function countsIn(item: Item): Counts {
  const counts: Record<string, number> = {};
  for (const name in item) if (COUNT_NAMES.has(name)) counts[name] = Number(item[name]);
  return counts;
}

const positionOf = (shard: string): string => `position_${hash('sha256', shard).slice(0, 12)}`;
