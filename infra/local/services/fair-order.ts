/** Of all messages in flight: a group with more is noisy, if it has enough of them for its share to mean something. */
const NOISY_SHARE = 0.1;
const NOISY_IN_FLIGHT = 30;
/** A group that sends nothing for so long is quiet again. */
const QUIET_MS = 5 * 60_000;
/** What counts as recent: after each such time, processing times count half. SQS does not say how long that is. */
const RECENT_MS = 60_000;

export interface GroupedMessage {
  group: string | undefined;
  /** Unix time in milliseconds. */
  sentAt: number;
}

interface Group<Message> {
  visible: { message: Message; order: number }[];
  inFlight: number;
  processingMs: number;
  sentAt: number;
}

/**
 * The order in which a fair queue hands messages out (Amazon SQS Developer Guide, "How Amazon SQS fair queues work"): oldest
 * first, but those of noisy groups only while no quiet group has any, and among noisy groups first the one with the fewest in
 * flight. A group is noisy by its share of the messages in flight or of recent processing time, until its backlog is gone.
 * Messages without a group are nobody's: always quiet.
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

  /** Messages that wait. */
  get size(): number {
    return this.total.visible;
  }

  /** Groups with messages that wait or are in flight: what this remembers. */
  get groupCount(): number {
    return this.groups.size;
  }

  /** Adds a message that became visible. */
  add(message: Message): void {
    const group = this.groups.get(message.group) ?? { visible: [], inFlight: 0, processingMs: 0, sentAt: 0 };
    this.groups.set(message.group, group);
    group.visible.push({ message, order: this.total.shown++ });
    group.sentAt = Math.max(group.sentAt, message.sentAt);
    this.total.visible++;
  }

  /** The next message, in flight from now on. */
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

  /** A message is no longer in flight; it was for so long. */
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
