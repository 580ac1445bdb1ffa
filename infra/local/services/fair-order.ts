/** The share of messages in flight above which a group is noisy, if it has a significant number. */
const NOISY_SHARE = 0.1;
const NOISY_IN_FLIGHT = 30;
/** After this time without messages, a group is quiet again. */
const QUIET_MS = 5 * 60_000;
/** The half-life of processing times. SQS does not document the value. */
const RECENT_MS = 60_000;

export interface GroupedMessage {
  group: string | undefined;
  /** The Unix time in milliseconds. */
  sentAt: number;
}

interface Group<Message> {
  visible: { message: Message; order: number }[];
  inFlight: number;
  processingMs: number;
  sentAt: number;
}

/**
 * The order in which a fair queue returns messages (Amazon SQS Developer Guide, "How Amazon SQS fair queues work"). The oldest
 * message is first, but messages of noisy groups wait until no quiet group has any. Among noisy groups, the one with the fewest
 * messages in flight is first. A group is noisy by its share of the messages in flight or of recent processing time, until its
 * backlog is empty. Messages without a group are always quiet.
 */
export class FairOrder<Message extends GroupedMessage> {
  private readonly groups = new Map<string | undefined, Group<Message>>();
  private readonly now: () => number;
  private readonly total = { visible: 0, inFlight: 0, processingMs: 0, shown: 0 };
  private halvedAt: number;

  constructor(now: () => number = Date.now) {
    this.now = now;
    this.halvedAt = now();
  }

  /** The number of waiting messages. */
  get size(): number {
    return this.total.visible;
  }

  /** The number of groups with messages that wait or are in flight. */
  get groupCount(): number {
    return this.groups.size;
  }

  /** Adds a visible message. */
  add(message: Message): void {
    const group = this.groups.get(message.group) ?? { visible: [], inFlight: 0, processingMs: 0, sentAt: 0 };
    this.groups.set(message.group, group);
    group.visible.push({ message, order: this.total.shown++ });
    group.sentAt = Math.max(group.sentAt, message.sentAt);
    this.total.visible++;
  }

  /** Returns the next message, which is then in flight. */
  take(): Message | undefined {
    this.halve();
    let best: Group<Message> | undefined;
    for (const [name, group] of this.groups) {
      if (group.visible.length > 0 && (!best || this.isBefore(group, name, best))) best = group;
    }
    const message = best?.visible.shift()?.message;
    if (!best || !message) return undefined;
    best.inFlight++;
    this.total.visible--;
    this.total.inFlight++;
    return message;
  }

  /** Ends the flight of a message after `processingMs`. */
  end({ group: name }: Message, processingMs: number): void {
    const group = this.groups.get(name);
    if (!group) return;
    group.inFlight--;
    group.processingMs += processingMs;
    this.total.inFlight--;
    this.total.processingMs += processingMs;
    if (group.inFlight === 0 && group.visible.length === 0) this.groups.delete(name);
  }

  private isBefore(group: Group<Message>, name: string | undefined, best: Group<Message>): boolean {
    const bestName = best.visible[0]?.message.group;
    const [isNoisy, isBestNoisy] = [this.isNoisy(name, group), this.isNoisy(bestName, best)];
    if (isNoisy !== isBestNoisy) return isBestNoisy;
    if (isNoisy && group.inFlight !== best.inFlight) return group.inFlight < best.inFlight;
    return (group.visible[0]?.order ?? 0) < (best.visible[0]?.order ?? 0);
  }

  private isNoisy(name: string | undefined, { inFlight, processingMs, sentAt }: Group<Message>): boolean {
    if (name === undefined || this.now() - sentAt > QUIET_MS) return false;
    const { total } = this;
    return (
      (inFlight >= NOISY_IN_FLIGHT && inFlight > total.inFlight * NOISY_SHARE) ||
      processingMs > total.processingMs * NOISY_SHARE
    );
  }

  private halve(): void {
    for (; this.now() - this.halvedAt >= RECENT_MS; this.halvedAt += RECENT_MS) {
      this.total.processingMs /= 2;
      for (const group of this.groups.values()) group.processingMs /= 2;
    }
  }
}
