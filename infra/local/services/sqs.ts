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

export interface QueueSettings {
  name: string;
  arn: string;
  visibilityTimeoutSeconds: number;
  deadLetters?: { queue: () => LocalQueue; maxReceiveCount: number } | undefined;
  /** How many times faster delays pass. */
  speed: number;
  /** How many times faster the visibility timeout passes after a failure: 1, but for tests of redelivery. */
  visibilitySpeed: number;
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
  }

  send(
    body: string,
    { group, delaySeconds = 0 }: { group?: string | undefined; delaySeconds?: number | undefined } = {},
  ): string {
    const messageId = randomUUID();
    const message = { messageId, body, group, sentAt: Date.now(), receiveCount: 0, receiptHandle: '' };
    if (delaySeconds === 0) this.show(message);
    else {
      const timer = setTimeout(
        () => {
          this.delayed.delete(timer);
          this.show(message);
        },
        (delaySeconds * 1000) / this.settings.speed,
      );
      this.delayed.add(timer);
    }
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
        continue;
      }
      received.push(this.hide(message));
    }
    return received;
  }

  delete(receiptHandle: string): void {
    const entry = this.takeInFlight(receiptHandle);
    if (entry) clearTimeout(entry.timer);
  }

  /** The consumer failed: the message comes again when its visibility timeout is over. */
  fail(receiptHandle: string): void {
    const entry = this.inFlight.get(receiptHandle);
    if (!entry) return;
    clearTimeout(entry.timer);
    entry.timer = this.showLater(receiptHandle, this.settings.visibilitySpeed);
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
