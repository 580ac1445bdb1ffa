import { requireSeconds } from './arguments.ts';
import { memoryOutbox, type OutboxEntry } from './outbox.ts';
import { publishBatch, type Rejection } from './publish-batch.ts';
import { jsonOf, requireOptions } from './publisher-arguments.ts';
import type { NewEvent, Publisher, PublisherOptions, Store } from './publisher-types.ts';
import { watchers } from './watchers.ts';

const MAX_BATCH = 100;
/** A request has at most 1 MiB, including the text around the events. */
const MAX_BATCH_BYTES = 1024 * 1024 - 1024;
const MAX_EVENT_BYTES = 256 * 1024;
const MAX_BACKOFF_SECONDS = 30;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
/** Calls a function of the application, which can be asynchronous. Nothing that it throws may stop the events after it. */
const report = async (call: () => unknown): Promise<void> => {
  try {
    await call();
  } catch {}
};
const idsOf = (entries: readonly OutboxEntry[]): number[] => entries.map(({ id }) => id);

/**
 * Publishes the events of a sync engine in batches, one after another, so that the service accepts the events of a document in order.
 * The outbox keeps the idempotency key of each batch, so a repetition within 24 hours publishes nothing twice, also after a restart.
 */
export async function publisher<Event extends NewEvent>(options: PublisherOptions<Event>): Promise<Publisher<Event>> {
  requireOptions(options);
  const { outbox = memoryOutbox(), maxWaitSeconds = 1, maxBuffered = 10_000 } = options;
  const stats = { buffered: await outbox.count(), published: 0, rejected: 0, refused: 0, retries: 0 };
  const { until, notify } = watchers();
  const ended = new AbortController();
  const isEnded = () => ended.signal.aborted;
  let [callers, flushing, bytes] = [0, 0, 0];
  let isClosed = false;
  let adding = Promise.resolve();
  let sending: Promise<void> | null = null;
  let closing: Promise<void> | undefined;

  async function add(event: string, store: Store): Promise<void> {
    await until(() => stats.buffered < maxBuffered || isEnded());
    if (isEnded()) throw new Error('The publisher is closed.');
    await store(() => outbox.add(event));
    stats.buffered++;
    bytes += bytesOf(event);
    send();
    notify();
  }

  function send(): void {
    if (sending !== null || stats.buffered === 0 || isEnded()) return;
    sending = sendAll().finally(() => {
      sending = null;
      send(); // an event can be added after the last check of the loop
    });
  }

  async function sendAll(): Promise<void> {
    const isFull = () => stats.buffered >= Math.min(MAX_BATCH, maxBuffered) || bytes >= MAX_BATCH_BYTES;
    for (let failures = 0; stats.buffered > 0 && !isEnded(); ) {
      if (failures === 0) await until(() => isFull() || flushing > 0 || isEnded(), maxWaitSeconds);
      const failure = await sendBatch().catch((error) => ({ reason: String(error), retryAfterSeconds: undefined }));
      if (isEnded() || failure === null) {
        failures = 0;
        continue;
      }
      const backoff = Math.min(MAX_BACKOFF_SECONDS, 2 ** failures++) * (0.5 + Math.random() / 2);
      const waitSeconds = failure.retryAfterSeconds ?? backoff;
      stats.retries++;
      void report(() => options.onRetry?.(failure.reason, waitSeconds));
      await until(isEnded, waitSeconds);
    }
  }

  /** Sends the first batch. Returns why it must be sent again later, or `null`. */
  async function sendBatch() {
    const batch = await firstBatch();
    const events = batch.map(({ event }) => event);
    const outcome = await publishBatch(options, events, batch[0]?.batch ?? '', ended.signal);
    if (outcome.type === 'failed') return outcome;
    if (outcome.type === 'reused') await assign(batch);
    if (outcome.type === 'rejected') await split(batch, outcome.problem, outcome.invalid);
    if (outcome.type === 'published') {
      await remove(batch, 'published');
      void report(() => options.onPublished?.(batch.length));
    }
    return null;
  }

  /** Returns the batch that was sent before, because its key covers exactly its events, or a new one. */
  async function firstBatch(): Promise<OutboxEntry[]> {
    const entries = await outbox.first(MAX_BATCH);
    const sent = entries[0]?.batch ?? null;
    if (sent !== null) return entries.filter(({ batch }) => batch === sent);
    const sizes = entries.map(({ event }) => bytesOf(event));
    const end = sizes.findIndex((_, i) => sizes.slice(0, i + 1).reduce((sum, size) => sum + size) > MAX_BATCH_BYTES);
    return assign(end < 0 ? entries : entries.slice(0, end));
  }

  /** Puts events into a batch with a new idempotency key. */
  async function assign(entries: readonly OutboxEntry[]): Promise<OutboxEntry[]> {
    const batch = crypto.randomUUID();
    await outbox.assign(idsOf(entries), batch);
    return entries.map((entry) => ({ ...entry, batch }));
  }

  /** Drops the invalid events of a rejected batch. If the response names none, it halves the batch until one event is left. */
  async function split(batch: readonly OutboxEntry[], problem: Rejection, invalid: readonly number[]): Promise<void> {
    const dropped = batch.length === 1 ? batch : batch.filter((_, place) => invalid.includes(place));
    const rest = batch.filter((entry) => !dropped.includes(entry));
    const half = dropped.length > 0 ? rest.length : Math.ceil(rest.length / 2);
    for (const part of [rest.slice(half), rest.slice(0, half)]) if (part.length > 0) await assign(part);
    await remove(dropped, 'rejected');
    for (const { event } of dropped) void report(() => options.onRejected?.(JSON.parse(event), problem));
  }

  async function remove(entries: readonly OutboxEntry[], outcome: 'published' | 'rejected'): Promise<void> {
    await outbox.remove(idsOf(entries));
    stats.buffered -= entries.length;
    stats[outcome] += entries.length;
    bytes = Math.max(0, bytes - entries.reduce((sum, { event }) => sum + bytesOf(event), 0));
    notify();
  }

  /** Resolves when all events of earlier calls have left the outbox, or after a time. */
  async function drain(maxSeconds?: number): Promise<void> {
    flushing++;
    notify();
    const left = () => stats.published + stats.rejected;
    let last = Number.POSITIVE_INFINITY;
    adding.then(() => {
      last = left() + stats.buffered;
      notify();
    });
    await until(() => left() >= last || isEnded(), maxSeconds);
    flushing--;
  }

  send();
  return {
    async publish(event, store = (add) => add()) {
      const text = jsonOf(event);
      if (isClosed) throw new Error('The publisher is closed.');
      if (bytesOf(text) > MAX_EVENT_BYTES) throw new RangeError(`An event has at most ${MAX_EVENT_BYTES} bytes.`);
      if (callers >= maxBuffered) {
        stats.refused++;
        throw new Error(`The buffer is full, and ${callers} calls wait for room.`);
      }
      callers++;
      const added = adding.then(() => add(text, store)).finally(() => callers--);
      adding = added.catch(() => {});
      return added;
    },
    flush: () => drain(),
    async close(maxSeconds = 10) {
      requireSeconds('the time of close', maxSeconds);
      isClosed = true;
      await drain(maxSeconds);
      ended.abort();
      notify();
      await adding;
      await sending;
      closing ??= Promise.resolve(outbox.close?.());
      await closing;
      return stats.buffered;
    },
    stats: () => ({ ...stats }),
  };
}
