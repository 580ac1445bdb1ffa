import { randomUUID } from 'node:crypto';
import { FairOrder } from './fair-order.ts';

export interface QueueMessage {
  messageId: string;
  body: string;
  group: string | undefined;
  /** The trace header that it was sent with. */
  trace: string | undefined;
  sentAt: number;
  receiveCount: number;
  receiptHandle: string;
}

/** A message as it outlives the process: until it is deleted. Times are Unix times in milliseconds. */
export interface KeptMessage extends Pick<QueueMessage, 'body' | 'group' | 'trace' | 'sentAt'> {
  queue: string;
  /** When its delay is over. */
  visibleAt: number;
}

export interface SendOptions {
  group?: string | undefined;
  delaySeconds?: number | undefined;
  trace?: string | undefined;
}

export interface QueueSettings {
  name: string;
  arn: string;
  visibilityTimeoutSeconds: number;
  deadLetters?: { queue: () => LocalQueue; maxReceiveCount: number } | undefined;
  /** How many times faster delays pass. */
  speed: number;
  /** How many times faster the visibility timeout passes after a failure: 1, but for tests of redelivery. */
  visibilitySpeed: number;
  /** Has every message until it is deleted, by its id; those of this queue that it has at first are in the queue again. */
  kept: Map<string, KeptMessage>;
}

/** A standard queue with the semantics of SQS that matter here: delay, visibility, redrive, and fair groups. */
export class LocalQueue {
  readonly settings: QueueSettings;
  private readonly visible = new FairOrder<QueueMessage>();
  private readonly inFlight = new Map<string, { message: QueueMessage; timer: NodeJS.Timeout; since: number }>();
  private readonly delayed = new Set<NodeJS.Timeout>();
  private waiters: (() => void)[] = [];

  constructor(settings: QueueSettings) {
    this.settings = settings;
    for (const [messageId, { queue, visibleAt, ...message }] of settings.kept) {
      if (queue !== settings.name) continue;
      this.showAfter(visibleAt - Date.now(), { ...message, messageId, receiveCount: 0, receiptHandle: '' });
    }
  }

  send(body: string, { group, delaySeconds = 0, trace }: SendOptions = {}): string {
    const messageId = randomUUID();
    const delayMs = (delaySeconds * 1000) / this.settings.speed;
    const message = { body, group, trace, sentAt: Date.now() };
    this.settings.kept.set(messageId, {
      queue: this.settings.name,
      ...message,
      visibleAt: message.sentAt + delayMs,
    });
    this.showAfter(delayMs, { ...message, messageId, receiveCount: 0, receiptHandle: '' });
    return messageId;
  }

  /** At most `max` visible messages, of any groups. */
  receive(max: number): QueueMessage[] {
    const received: QueueMessage[] = [];
    while (received.length < max) {
      const message = this.visible.take();
      if (!message) break;
      message.receiveCount++;
      const { deadLetters } = this.settings;
      if (deadLetters && message.receiveCount > deadLetters.maxReceiveCount) {
        this.visible.end(message, 0);
        deadLetters.queue().send(message.body, { group: message.group });
        this.settings.kept.delete(message.messageId);
        continue;
      }
      received.push(this.hide(message));
    }
    return received;
  }

  delete(receiptHandle: string): void {
    const entry = this.takeInFlight(receiptHandle);
    if (!entry) return;
    clearTimeout(entry.timer);
    this.settings.kept.delete(entry.message.messageId);
  }

  /** The consumer failed: the message comes again when its visibility timeout is over. */
  fail(receiptHandle: string): void {
    const entry = this.inFlight.get(receiptHandle);
    if (!entry) return;
    clearTimeout(entry.timer);
    entry.timer = this.showLater(receiptHandle, this.settings.visibilitySpeed);
  }

  /** Nobody is to get the message again. */
  giveUp(receiptHandle: string): void {
    const message = this.inFlight.get(receiptHandle)?.message;
    if (message) this.settings.deadLetters?.queue().send(message.body, { group: message.group });
    this.delete(receiptHandle);
  }

  /** Groups with messages here. */
  get groupCount(): number {
    return this.visible.groupCount;
  }

  get hasVisible(): boolean {
    return this.visible.size > 0;
  }

  /** Resolves when a message is, or becomes, visible. */
  async untilVisible(): Promise<void> {
    if (this.hasVisible) return;
    await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  counts(): { visible: number; inFlight: number; delayed: number } {
    return { visible: this.visible.size, inFlight: this.inFlight.size, delayed: this.delayed.size };
  }

  stop(): void {
    for (const timer of this.delayed) clearTimeout(timer);
    for (const { timer } of this.inFlight.values()) clearTimeout(timer);
  }

  private showAfter(delayMs: number, message: QueueMessage): void {
    if (delayMs <= 0) {
      this.show(message);
      return;
    }
    const timer = setTimeout(() => {
      this.delayed.delete(timer);
      this.show(message);
    }, delayMs);
    this.delayed.add(timer);
  }

  private show(message: QueueMessage): void {
    this.visible.add(message);
    const waiters = this.waiters;
    this.waiters = [];
    for (const wake of waiters) wake();
  }

  private hide(message: QueueMessage): QueueMessage {
    message.receiptHandle = randomUUID();
    const { receiptHandle } = message;
    this.inFlight.set(receiptHandle, { message, timer: this.showLater(receiptHandle, 1), since: Date.now() });
    return { ...message };
  }

  private showLater(receiptHandle: string, speed: number): NodeJS.Timeout {
    return setTimeout(
      () => {
        const entry = this.takeInFlight(receiptHandle);
        if (entry) this.show(entry.message);
      },
      (this.settings.visibilityTimeoutSeconds * 1000) / speed,
    );
  }

  private takeInFlight(receiptHandle: string) {
    const entry = this.inFlight.get(receiptHandle);
    if (entry) this.visible.end(entry.message, Date.now() - entry.since);
    this.inFlight.delete(receiptHandle);
    return entry;
  }
}
