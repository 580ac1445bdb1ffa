import { QUICK_WITHIN_MS, SUSPECT_AFTER_MS } from '../../../../lib/delivery/lanes.ts';
import { ATTEMPT_TIMEOUT_MS } from '../../../../lib/delivery/post.ts';
import { QUOTAS } from './quotas.ts';

/*
 * The quick lane in virtual time, under the documented scaling of event source mappings: five concurrent batches, and up to 300
 * more per minute while messages wait (Lambda Developer Guide, "Configuring scaling behavior for SQS event source mappings"). It
 * compares rules for attempts to endpoints that stop responding at the same time.
 */

/** What the lane does with an attempt that takes long. Times are in milliseconds. */
export interface Rule {
  /** After this time, the endpoint's next messages go to the slow lane. */
  notedAfterMs: number;
  /** The first such attempt to an endpoint leaves the lane after this time. */
  firstLeavesAfterMs: number;
  /** Every other attempt leaves the lane after this time. */
  othersLeaveAfterMs: number;
  /** The most messages per second to an endpoint, each with several events. Default: one message for each event. */
  mostMessages?: number;
}

/** An attempt ends after 5 s. A rule without that time does not let it leave before. */
const TO_THE_END = { firstLeavesAfterMs: ATTEMPT_TIMEOUT_MS, othersLeaveAfterMs: ATTEMPT_TIMEOUT_MS };

export const CHOSEN: Rule = {
  notedAfterMs: QUICK_WITHIN_MS,
  firstLeavesAfterMs: SUSPECT_AFTER_MS,
  othersLeaveAfterMs: QUICK_WITHIN_MS,
};

export const RULES: Record<string, Rule> = {
  'noted after 1 s': { notedAfterMs: 1000, ...TO_THE_END },
  'noted after 300 ms': { notedAfterMs: 300, ...TO_THE_END },
  'noted after 4 times its p95': { notedAfterMs: 100, ...TO_THE_END },
  'noted after 1 s, 10 messages/s': { notedAfterMs: 1000, ...TO_THE_END, mostMessages: 10 },
  'all leave after 1 s': { notedAfterMs: 300, firstLeavesAfterMs: 1000, othersLeaveAfterMs: 1000 },
  'all leave after 300 ms': { notedAfterMs: 300, firstLeavesAfterMs: 300, othersLeaveAfterMs: 300 },
  'chosen: the first leaves after 1 s, others after 300 ms': CHOSEN,
};

export interface LaneLoad {
  /** Events per second to each endpoint. */
  rate: number;
  healthy: number;
  /** Endpoints that stop responding at the same time. */
  stopping: number;
  /** Concurrent batches when the model starts, and at most. Default: those of AWS. */
  concurrency?: { initial: number; most: number };
}

export interface LaneResult {
  /** Of healthy endpoints, before the others stop, in the 2 s after it, and in the following 10 s. */
  p99Ms: { before: number; first: number; later: number };
  /** The most environments that the endpoints occupied at the same time beyond the time after which an attempt is noted. */
  occupied: number;
}

const RESPONSE_MS = 30;
/** Receiving a batch, reading its data and recording its attempts. */
const BATCH_MS = 25;
/** Writing a note, which every later batch reads. */
const NOTE_MS = 10;
/** Handing a message over. */
const HAND_OVER_MS = 10;
const BATCH_SIZE = 10;
/** `deliverConcurrency` limits the concurrent batches. */
const AWS = { initial: 5, most: QUOTAS.deliverConcurrency.limit };
const ADDED_PER_SECOND = 5;
const STOPS_AT_MS = 40_000;
const ENDS_AT_MS = STOPS_AT_MS + 12_000;

interface Message {
  endpoint: number;
  at: number;
}

export function simulateLane(rule: Rule, { rate, healthy, stopping, concurrency = AWS }: LaneLoad): LaneResult {
  const { mostMessages = rate } = rule;
  const timers = new Timers();
  const queue: Message[] = [];
  let received = 0;
  const notedAt = new Map<number, number>();
  const latencies: { at: number; ms: number }[] = [];
  let [free, total, held, occupied] = [concurrency.initial, concurrency.initial, 0, 0];
  const isStopped = (endpoint: number) => endpoint >= healthy;

  const receive = () => {
    while (free > 0 && received < queue.length) {
      free--;
      const batch = queue.slice(received, received + BATCH_SIZE);
      received += batch.length;
      handle(batch);
    }
  };
  const handle = (batch: Message[]) => {
    const start = timers.now + BATCH_MS / 2;
    const ends: number[] = batch.map((message) =>
      start < STOPS_AT_MS || !isStopped(message.endpoint) ? RESPONSE_MS : -1,
    );
    for (const [i, { endpoint, at }] of batch.entries())
      if (!isStopped(endpoint)) latencies.push({ at, ms: start + RESPONSE_MS / 2 - at });
      else if (ends[i] === -1) ends[i] = stayMs(endpoint, start);
    const stays = Math.max(...ends);
    const isHeld = stays > rule.notedAfterMs + NOTE_MS;
    if (isHeld) {
      timers.after(rule.notedAfterMs + NOTE_MS, () => {
        occupied = Math.max(occupied, ++held);
      });
    }
    timers.after(BATCH_MS + stays, () => {
      if (isHeld) held--;
      free++;
      receive();
    });
  };
  /** How long an attempt to an endpoint that stopped responding stays in the lane. */
  const stayMs = (endpoint: number, start: number): number => {
    const noted = notedAt.get(endpoint);
    if (noted !== undefined && noted <= start) return HAND_OVER_MS;
    const isFirst = noted === undefined;
    if (isFirst) notedAt.set(endpoint, start + rule.notedAfterMs + NOTE_MS);
    return Math.min(ATTEMPT_TIMEOUT_MS, isFirst ? rule.firstLeavesAfterMs : rule.othersLeaveAfterMs);
  };

  for (let second = 0; second * 1000 < ENDS_AT_MS; second++)
    timers.at(second * 1000, () => {
      if (received === queue.length || total >= concurrency.most) return;
      const added = Math.min(ADDED_PER_SECOND, concurrency.most - total);
      total += added;
      free += added;
      receive();
    });
  const intervalMs = 1000 / Math.min(rate, mostMessages);
  for (let i = 0; i * intervalMs < ENDS_AT_MS; i++)
    for (let endpoint = 0; endpoint < healthy + stopping; endpoint++) {
      const at = (i + endpoint / (healthy + stopping)) * intervalMs;
      timers.at(at, () => {
        if ((notedAt.get(endpoint) ?? Number.POSITIVE_INFINITY) <= at) return; // to the slow lane
        queue.push({ endpoint, at });
        receive();
      });
    }
  timers.run(ENDS_AT_MS + 2 * ATTEMPT_TIMEOUT_MS);

  const p99 = (from: number, to: number) => {
    const sorted = latencies.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms);
    sorted.sort((a, b) => a - b);
    return Math.round(sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN);
  };
  return {
    p99Ms: {
      before: p99(STOPS_AT_MS - 5000, STOPS_AT_MS),
      first: p99(STOPS_AT_MS, STOPS_AT_MS + 2000),
      later: p99(STOPS_AT_MS + 2000, STOPS_AT_MS + 12_000),
    },
    occupied,
  };
}

/** Virtual time: what is due happens in order. */
class Timers {
  now = 0;
  private readonly heap: { at: number; order: number; fire: () => void }[] = [];
  private order = 0;

  after(ms: number, fire: () => void): void {
    this.at(this.now + ms, fire);
  }

  at(at: number, fire: () => void): void {
    const { heap } = this;
    let i = heap.push({ at, order: this.order++, fire }) - 1;
    for (let parent = (i - 1) >> 1; i > 0 && this.isBefore(i, parent); parent = (i - 1) >> 1) i = this.swap(i, parent);
  }

  run(until: number): void {
    const { heap } = this;
    for (let next = heap[0]; next && next.at <= until; next = heap[0]) {
      const last = heap.pop();
      if (last && heap.length > 0) heap[0] = last;
      for (let i = 0; ; ) {
        const [left, right] = [2 * i + 1, 2 * i + 2];
        let least = i;
        if (left < heap.length && this.isBefore(left, least)) least = left;
        if (right < heap.length && this.isBefore(right, least)) least = right;
        if (least === i) break;
        i = this.swap(i, least);
      }
      this.now = next.at;
      next.fire();
    }
  }

  private isBefore(i: number, j: number): boolean {
    const [a, b] = [this.heap[i], this.heap[j]];
    return a !== undefined && b !== undefined && (a.at < b.at || (a.at === b.at && a.order < b.order));
  }

  private swap(i: number, j: number): number {
    const { heap } = this;
    [heap[i], heap[j]] = [heap[j] as (typeof heap)[number], heap[i] as (typeof heap)[number]];
    return j;
  }
}
