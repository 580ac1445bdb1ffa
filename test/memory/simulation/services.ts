import { ConflictException } from '@aws-sdk/client-scheduler';
import type { World } from './world.ts';

/** Receives after which a message is a dead letter (infra/queues.ts). */
const MAX_RECEIVES = 20;
/** For how long a received message is hidden (infra/queues.ts). */
const VISIBILITY_MS = (6 * 30 + 5) * 1000;

/** The rate of outages, in which a message arrives hours late. */
const OUTAGE_RATE = 0.003;
/** The probability that a message is received again, for each of two causes. */
const DUPLICATE_RATE = 0.02;
const OUTAGE_MS = 5 * 60 * 60 * 1000;

/** Ends a batch with the positions of its failed records. */
export type Settle = (failed: ReadonlySet<number> | 'all') => void;
type Consumer<Entry> = (batch: readonly Entry[], settle: Settle) => void;

interface Stored<Message> {
  message: Message;
  /** The number of receives, which identifies the latest receipt. */
  receives: number;
  /** Whether a consumer deleted the message. */
  isDeleted: boolean;
}

/**
 * An SQS queue with at-least-once delivery in no particular order. `deliver` receives batches and returns the failed messages.
 * Sometimes a message becomes visible while its batch runs, so that another consumer receives it concurrently. Then only the
 * latest receipt deletes the message (SQS API Reference, `DeleteMessage`).
 */
export class SimulatedQueue<Message> {
  private readonly visible: Stored<Message>[] = [];
  private readonly world: World;
  private readonly consume: Consumer<Message>;
  private hidden = 0;
  private isPolling = false;
  deadLetters = 0;
  /** The number of messages that arrived hours late. */
  late = 0;

  constructor(world: World, consume: Consumer<Message>) {
    this.world = world;
    this.consume = consume;
  }

  /** The number of waiting, hidden and delayed messages. */
  get size(): number {
    return this.visible.length + this.hidden;
  }

  send(message: Message, delaySeconds = 0): void {
    const outageMs = this.world.chance(OUTAGE_RATE) ? OUTAGE_MS : 0;
    if (outageMs > 0) this.late++;
    this.hide({ message, receives: 0, isDeleted: false }, delaySeconds * 1000 + outageMs);
  }

  private hide(stored: Stored<Message>, ms: number): void {
    const show = () => {
      if (stored.isDeleted) return;
      this.visible.push(stored);
      this.poll();
    };
    if (ms === 0) {
      show();
      return;
    }
    this.hidden++;
    this.world.after(ms, () => {
      this.hidden--;
      show();
    });
  }

  private poll(): void {
    if (this.isPolling) return;
    this.isPolling = true;
    this.world.after(this.world.pick([1, 10, 200]), () => {
      this.isPolling = false;
      for (let i = this.visible.length - 1; i >= 0; i--) if (this.visible[i]?.isDeleted) this.visible.splice(i, 1);
      if (this.visible.length === 0) return;
      const size = 1 + Math.floor(this.world.choosing() * Math.min(10, this.visible.length));
      const batch = Array.from({ length: size }, () => {
        const [stored] = this.visible.splice(Math.floor(this.world.choosing() * this.visible.length), 1);
        return stored as Stored<Message>;
      });
      for (const stored of batch) if (this.world.chance(DUPLICATE_RATE)) this.visible.push(stored);
      if (this.visible.length > 0) this.poll();
      this.hidden += batch.length;
      const receipts = batch.map((stored) => ++stored.receives);
      const receivedAt = this.world.now;
      this.consume(
        batch.map(({ message }) => message),
        (failed) => {
          this.hidden -= batch.length;
          const rest = Math.max(0, receivedAt + VISIBILITY_MS - this.world.now);
          batch.forEach((stored, i) => {
            const isBack = failed === 'all' || failed.has(i) || this.world.chance(DUPLICATE_RATE);
            if (receipts[i] !== stored.receives) return;
            if (!isBack) stored.isDeleted = true;
            else if (this.visible.includes(stored)) return;
            else if (stored.receives >= MAX_RECEIVES) this.deadLetters++;
            else this.hide(stored, rest);
          });
        },
      );
    });
  }
}

/**
 * EventBridge Scheduler with one-shot schedules. They fire at least once, within a minute after their time, and are then deleted.
 */
export class SimulatedScheduler {
  private readonly names = new Set<string>();
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  get size(): number {
    return this.names.size;
  }

  create(name: string, atMs: number, send: () => void): void {
    if (this.names.has(name)) throw new ConflictException({ $metadata: {}, message: '', Message: name });
    this.names.add(name);
    const lateMs = Math.floor(this.world.choosing() * 60_000);
    this.world.after(Math.max(0, atMs - this.world.now) + lateMs, () => {
      this.names.delete(name);
      send();
      if (this.world.chance(0.02)) send();
    });
  }
}

/**
 * The stream of the table. It delivers records in order, and retries a failed batch from its first failed record without a limit.
 */
export class SimulatedStream<Entry> {
  private readonly records: Entry[] = [];
  private readonly world: World;
  private readonly consume: Consumer<Entry>;
  private readonly delaysMs: readonly number[];
  private isBusy = false;

  /** Reads all new records after one of the delays. */
  constructor(world: World, consume: Consumer<Entry>, delaysMs: readonly number[] = [10, 200, 1000]) {
    this.world = world;
    this.consume = consume;
    this.delaysMs = delaysMs;
  }

  get size(): number {
    return this.records.length;
  }

  append(record: Entry): void {
    this.records.push(record);
    this.read();
  }

  private read(delayMs = this.world.pick(this.delaysMs)): void {
    if (this.isBusy || this.records.length === 0) return;
    this.isBusy = true;
    this.world.after(delayMs, () => {
      const size = 1 + Math.floor(this.world.choosing() * this.records.length);
      const batch = this.records.slice(0, size);
      this.consume(batch, (failed) => {
        this.isBusy = false;
        const first = failed === 'all' ? 0 : Math.min(batch.length, ...failed);
        const isReplayed = failed !== 'all' && failed.size === 0 && this.world.chance(0.03);
        if (!isReplayed) this.records.splice(0, first);
        this.read(first < batch.length || isReplayed ? 1000 : undefined);
      });
    });
  }
}
