import { hash } from 'node:crypto';
import { all, any, areAsGiven, increased, isAbsent, isBelow, update } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, timeToLive } from '../aws/items.ts';
import { rangeQuery } from '../aws/queries.ts';
import type { Query, Table } from '../aws/table.ts';
import { EVENT_RETENTION_MS } from '../events/event.ts';
import type { Backlog } from '../webhooks/condition.ts';
import { BACKLOG_NAMES, type BacklogTally, backlogSince } from './backlog-tally.ts';
import type { RecoveryTally } from './recovery-tally.ts';
import {
  COUNT_NAMES,
  type Counts,
  PERIOD_MS,
  type PeriodCounts,
  periodStart,
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
    add({ webhookId, period, start, entries }: Tally, shard: string): Promise<void> {
      const expires = timeToLive(start + PERIOD_MS[period] + STATS_KEPT_MS[period]);
      return addOnce(itemKey.stats(webhookId, period, start), entries, shard, { values: { expires } });
    },

    /** The same for the counts of a recovery. Those of an earlier recovery of the webhook are dropped. */
    addToRecovery: ({ webhookId, recoveryId, entries }: RecoveryTally, shard: string): Promise<void> =>
      addOnce(itemKey.recovery(webhookId), entries, shard, { of: { id: recoveryId } }),

    /** The same for the backlog of a webhook. */
    addToBacklog({ webhookId, start, entries }: BacklogTally, shard: string): Promise<void> {
      const expires = timeToLive(start + PERIOD_MS.day + EVENT_RETENTION_MS);
      return addOnce(itemKey.backlog(webhookId, start), entries, shard, { values: { expires } });
    },

    /** Counts what an endpoint has not received. Reads one small item for each day with failures, and none without. */
    async backlogOf(webhookId: string): Promise<Backlog> {
      const since = table.now() - EVENT_RETENTION_MS;
      const { pk, sk: first } = itemKey.backlog(webhookId, periodStart('day', since));
      const last = itemKey.backlog(webhookId, table.now() + PERIOD_MS.day).sk;
      return backlogSince(await read(rangeQuery(pk, { first, last }), BACKLOG_NAMES), since);
    },

    /** Reads the stats of the periods that start at `from` or later and before `to`, oldest first. */
    async list(webhookId: string, { by, from, to }: StatsRange): Promise<PeriodCounts[]> {
      const { pk, sk: first } = itemKey.stats(webhookId, by, from);
      const { sk: last } = itemKey.stats(webhookId, by, to - 1);
      return read(rangeQuery(pk, { first, last }), COUNT_NAMES);
    },
  };

  /** Reads the counts of these names. Eventually consistent at half the price, because counts are late anyway. */
  async function read(query: Query, names: ReadonlySet<string>): Promise<PeriodCounts[]> {
    const periods: PeriodCounts[] = [];
    for await (const item of table.queryAll({ ...query, ConsistentRead: false })) {
      periods.push({ start: Date.parse(String(item.sk).split('#')[1] ?? ''), counts: countsIn(item, names) });
    }
    return periods;
  }

  /** Adds counts to an item that has the members `of`, and sets `values`. */
  async function addOnce(
    key: ItemKey,
    entries: Tally['entries'],
    shard: string,
    { of = {}, values = {} }: { of?: Item; values?: Item },
  ): Promise<void> {
    const position = positionOf(shard);
    let rest = entries.map((entry) => ({ ...entry, sequence: entry.sequence.padStart(SEQUENCE_DIGITS, '0') }));
    for (;;) {
      const [first, last] = [rest.at(0), rest.at(-1)];
      if (!first || !last) return;
      const added = Object.entries(sumOf(rest)).map(([name, count]) => [name, increased(count)]);
      const isAfter = any(isAbsent(position), isBelow(position, first.sequence));
      const change = { ...values, ...Object.fromEntries(added), [position]: last.sequence };
      const [rejected] = await table.write([update(key, change, all(isAfter, ...areAsGiven(of)))]);
      if (!rejected || Object.entries(of).some(([name, value]) => rejected.item?.[name] !== value)) return;
      const counted = String(rejected.item?.[position]);
      rest = rest.filter(({ sequence }) => sequence > counted);
    }
  }
}

export type Stats = ReturnType<typeof stats>;

function countsIn(item: Item, names: ReadonlySet<string>): Counts {
  const counts: Record<string, number> = {};
  for (const name in item) if (names.has(name)) counts[name] = Number(item[name]);
  return counts;
}

const positionOf = (shard: string): string => `position_${hash('sha256', shard).slice(0, 12)}`;
