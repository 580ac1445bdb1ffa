import { timeOf } from '../id-time.ts';
import type { Backlog } from '../webhooks/condition.ts';
import type { DeliveryRecord } from './record.ts';
import { type DeliveryChange, PERIOD_MS, type PeriodCounts, periodStart, type Tally } from './stats.ts';

/**
 * The backlog of a webhook: the deliveries that its endpoint has not received. `missed` and `paused` ones ended without success,
 * the latter because of a pause. `retrying` ones have another attempt.
 */
const BACKLOG_STATES = ['missed', 'paused', 'retrying'] as const;
type BacklogState = (typeof BACKLOG_STATES)[number];

function backlogStateOf(record: DeliveryRecord | undefined): BacklogState | undefined {
  if (!record || record.test || record.status === 'pending' || record.status === 'succeeded') return undefined;
  if (record.status === 'retrying') return 'retrying';
  return record.reason === 'paused' ? 'paused' : 'missed';
}

const nameIn = (state: BacklogState, hour: number): string => `${state}_${hour}`;

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
export const BACKLOG_NAMES: ReadonlySet<string> = new Set(
  BACKLOG_STATES.flatMap((state) => HOURS.map((hour) => nameIn(state, hour))),
);

/** The changes of a backlog by events of one day, in their order. */
export type BacklogTally = Pick<Tally, 'webhookId' | 'start' | 'entries'>;

/**
 * Adds up changes, so that one write covers all changes of a day. A delivery counts in the hour of its event, which never changes.
 * So the change that takes it out of the backlog changes the count that contains it, and the count expires with the event.
 */
export function backlogTally(changes: readonly DeliveryChange[]): BacklogTally[] {
  const tallies = new Map<string, BacklogTally>();
  for (const { before, after, sequence } of changes) {
    const [from, to] = [backlogStateOf(before), backlogStateOf(after)];
    if (from === to) continue;
    const { webhookId, eventId } = after;
    const at = timeOf(eventId);
    const hour = new Date(at).getUTCHours();
    const counts = { ...(from && { [nameIn(from, hour)]: -1 }), ...(to && { [nameIn(to, hour)]: 1 }) };
    const start = periodStart('day', at);
    const id = `${webhookId} ${start}`;
    const own = tallies.get(id) ?? { webhookId, start, entries: [] };
    own.entries.push({ sequence, counts });
    tallies.set(id, own);
  }
  return [...tallies.values()];
}

/** The backlog by events since the start of an hour. */
export function backlogSince(days: readonly PeriodCounts[], sinceMs: number): Backlog {
  const since = periodStart('hour', sinceMs);
  const sumOfState = (state: BacklogState): number =>
    days
      .flatMap(({ start, counts }) =>
        HOURS.filter((hour) => start + hour * PERIOD_MS.hour >= since).map((hour) => counts[nameIn(state, hour)] ?? 0),
      )
      // A restored table can lack the last counts of an hour, which must not reduce those of other hours.
      .reduce((sum, count) => sum + Math.max(0, count), 0);
  const paused = sumOfState('paused');
  return { undelivered: sumOfState('missed') + paused, undelivered_paused: paused, retrying: sumOfState('retrying') };
}
