import { randomUUID } from 'node:crypto';

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
  /** Visible messages by group; those without one are a group. */
  private readonly visible = new Map<string, QueueMessage[]>();
  private readonly inFlight = new Map<string, { message: QueueMessage; timer: NodeJS.Timeout }>();
  private readonly inFlightOf = new Map<string, number>();
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

  /** At most `max` visible messages, those first whose group has the fewest in flight (SQS fair queues). */
  receive(max: number): QueueMessage[] {
    const received: QueueMessage[] = [];
    while (received.length < max) {
      const message = this.nextFair();
      if (!message) break;
      message.receiveCount++;
      const { deadLetters } = this.settings;
      if (deadLetters && message.receiveCount > deadLetters.maxReceiveCount) {
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

  /** Resolves when a message is, or becomes, visible. */
  async untilVisible(): Promise<void> {
    if (this.visible.size > 0) return;
    await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  counts(): { visible: number; inFlight: number; delayed: number } {
    const visible = [...this.visible.values()].reduce((sum, { length }) => sum + length, 0);
    return { visible, inFlight: this.inFlight.size, delayed: this.delayed.size };
  }

  stop(): void {
    for (const timer of this.delayed) clearTimeout(timer);
    for (const { timer } of this.inFlight.values()) clearTimeout(timer);
  }

  private show(message: QueueMessage): void {
    const group = message.group ?? '';
    const messages = this.visible.get(group);
    if (messages) messages.push(message);
    else this.visible.set(group, [message]);
    const waiters = this.waiters;
    this.waiters = [];
    for (const wake of waiters) wake();
  }

  private nextFair(): QueueMessage | undefined {
    let best: string | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const group of this.visible.keys()) {
      const count = this.inFlightOf.get(group) ?? 0;
      if (count < fewest) [best, fewest] = [group, count];
    }
    if (best === undefined) return undefined;
    const messages = this.visible.get(best) ?? [];
    const message = messages.shift();
    this.visible.delete(best); // re-inserted last: groups with equally many take turns
    if (messages.length > 0) this.visible.set(best, messages);
    return message;
  }

  /** The consumer failed: the message comes again when its visibility timeout is over. */
  fail(receiptHandle: string): void {
    const entry = this.inFlight.get(receiptHandle);
    if (!entry) return;
    clearTimeout(entry.timer);
    entry.timer = this.showLater(receiptHandle, this.settings.visibilitySpeed);
  }

  private hide(message: QueueMessage): QueueMessage {
    message.receiptHandle = randomUUID();
    const { receiptHandle } = message;
    this.inFlight.set(receiptHandle, { message, timer: this.showLater(receiptHandle, 1) });
    this.count(message, 1);
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
    if (entry) this.count(entry.message, -1);
    this.inFlight.delete(receiptHandle);
    return entry;
  }

  private count({ group = '' }: QueueMessage, step: number): void {
    this.inFlightOf.set(group, (this.inFlightOf.get(group) ?? 0) + step);
  }
}
