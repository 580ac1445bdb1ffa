import { randomUUID } from 'node:crypto';
import { FairOrder } from './fair-order.ts';

export interface QueueMessage {
  messageId: string;
  body: string;
  group: string | undefined;
  sentAt: number;
  receiveCount: number;
  receiptHandle: string;
}

/** A stored message, which remains until it is deleted. Times are Unix times in milliseconds. */
export interface KeptMessage extends Pick<QueueMessage, 'body' | 'group' | 'sentAt'> {
  queue: string;
  /** The end of the delay. */
  visibleAt: number;
}

export interface SendOptions {
  group?: string | undefined;
  delaySeconds?: number | undefined;
}

export interface QueueSettings {
  name: string;
  arn: string;
  visibilityTimeoutSeconds: number;
  deadLetters?: { queue: () => LocalQueue; maxReceiveCount: number } | undefined;
  /** How many times faster delays pass. */
  speed: number;
  /** How many times faster the visibility timeout passes after a failure. Only tests of redelivery set more than 1. */
  visibilitySpeed: number;
  /** The clock of the functions for the dates of messages. */
  now: () => number;
  /** Stores every message by id until it is deleted. Messages of this queue that it contains initially are in the queue again. */
  kept: Map<string, KeptMessage>;
}

/**
 * The minimum of a faster delay in milliseconds. Some messages are checks at a time of the clock, which does not run faster, so
 * they come early and are sent again until that time. Without a minimum, one of them would keep a core busy.
 */
const MIN_DELAY_MS = 250;

/** A standard queue with delays, visibility timeouts, redrive and fair groups, like SQS. */
export class LocalQueue {
  readonly settings: QueueSettings;
  private readonly visible = new FairOrder<QueueMessage>();
  private readonly inFlight = new Map<string, { message: QueueMessage; visibleAt: number; timer: NodeJS.Timeout }>();
  private readonly delayed = new Set<NodeJS.Timeout>();
  private waiters: (() => void)[] = [];

  constructor(settings: QueueSettings) {
    this.settings = settings;
    for (const [messageId, message] of settings.kept)
      if (message.queue === settings.name) this.take(messageId, message);
  }

  send(body: string, { group, delaySeconds = 0 }: SendOptions = {}): string {
    const messageId = randomUUID();
    const { name, speed, now, kept } = this.settings;
    const sentAt = now();
    const delayMs = delaySeconds * 1000;
    const visibleAt = Date.now() + Math.max(Math.min(delayMs, MIN_DELAY_MS), delayMs / speed);
    const message = { queue: name, body, group, sentAt, visibleAt };
    kept.set(messageId, message);
    this.take(messageId, message);
    return messageId;
  }

  /** Returns at most `max` visible messages of any groups. */
  receive(max: number): QueueMessage[] {
    const received: QueueMessage[] = [];
    while (received.length < max) {
      const message = this.visible.take();
      if (!message) break;
      message.receiveCount++;
      const { deadLetters } = this.settings;
      if (deadLetters && message.receiveCount > deadLetters.maxReceiveCount) {
        this.visible.end(message);
        this.bury(message);
        continue;
      }
      received.push(this.hide(message));
    }
    return received;
  }

  delete(receiptHandle: string): void {
    const message = this.takeInFlight(receiptHandle);
    if (message) this.settings.kept.delete(message.messageId);
  }

  /** Marks a failed message, for which the rest of its visibility timeout passes faster. The timeout starts when it is received. */
  fail(receiptHandle: string): void {
    const entry = this.inFlight.get(receiptHandle);
    if (!entry) return;
    clearTimeout(entry.timer);
    entry.timer = this.showLater(receiptHandle, (entry.visibleAt - Date.now()) / this.settings.visibilitySpeed);
  }

  /** Resolves when a message is visible. */
  async untilVisible(): Promise<void> {
    if (this.visible.size > 0) return;
    await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  counts(): { visible: number; inFlight: number; delayed: number } {
    return { visible: this.visible.size, inFlight: this.inFlight.size, delayed: this.delayed.size };
  }

  stop(): void {
    for (const timer of this.delayed) clearTimeout(timer);
    for (const { timer } of this.inFlight.values()) clearTimeout(timer);
  }

  /** Adds the message to the dead letters first, so that a killed process can duplicate but not lose it. */
  private bury({ messageId, body, group }: QueueMessage): void {
    this.settings.deadLetters?.queue().send(body, { group });
    this.settings.kept.delete(messageId);
  }

  private take(messageId: string, { body, group, sentAt, visibleAt }: KeptMessage): void {
    const message = { messageId, body, group, sentAt, receiveCount: 0, receiptHandle: '' };
    const delayMs = visibleAt - Date.now();
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
    const timeoutMs = this.settings.visibilityTimeoutSeconds * 1000;
    const timer = this.showLater(receiptHandle, timeoutMs);
    this.inFlight.set(receiptHandle, { message, visibleAt: Date.now() + timeoutMs, timer });
    return { ...message };
  }

  private showLater(receiptHandle: string, delayMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      const message = this.takeInFlight(receiptHandle);
      if (message) this.show(message);
    }, delayMs);
  }

  private takeInFlight(receiptHandle: string): QueueMessage | undefined {
    const entry = this.inFlight.get(receiptHandle);
    if (!entry) return undefined;
    clearTimeout(entry.timer);
    this.visible.end(entry.message);
    this.inFlight.delete(receiptHandle);
    return entry.message;
  }
}
