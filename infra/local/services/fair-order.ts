export interface GroupedMessage {
  group: string | undefined;
}

interface Group<Message> {
  visible: { message: Message; order: number }[];
  inFlight: number;
}

/**
 * The share of the messages in flight above which a group is noisy (Amazon SQS Developer Guide, "How Amazon SQS fair queues work").
 * SQS applies it to groups with at least 30 messages in flight, and to the share of the recent processing time of all groups. Here
 * one rule stands for both, because a group with few messages in flight has a large share only of few others.
 */
const NOISY_SHARE = 0.1;

/**
 * The order in which a fair queue returns messages: the oldest message of the quiet groups. If only noisy groups have messages, that
 * of the noisy group with the fewest messages in flight. Each message without a group counts as a separate group, which is quiet.
 */
export class FairOrder<Message extends GroupedMessage> {
  private readonly groups = new Map<string | undefined, Group<Message>>();
  private waiting = 0;
  private shown = 0;
  private inFlight = 0;

  /** The number of waiting messages. */
  get size(): number {
    return this.waiting;
  }

  /** Adds a visible message. */
  add(message: Message): void {
    const group = this.groups.get(message.group) ?? { visible: [], inFlight: 0 };
    this.groups.set(message.group, group);
    group.visible.push({ message, order: this.shown++ });
    this.waiting++;
  }

  /** Returns the next message, which is then in flight. */
  take(): Message | undefined {
    let best: Group<Message> | undefined;
    for (const group of this.groups.values())
      if (group.visible.length > 0 && (!best || this.isBefore(group, best))) best = group;
    const message = best?.visible.shift()?.message;
    if (!best || !message) return undefined;
    if (message.group !== undefined) best.inFlight++;
    this.inFlight++;
    this.waiting--;
    return message;
  }

  /** Ends the flight of a message. */
  end({ group: name }: Message): void {
    this.inFlight--;
    const group = this.groups.get(name);
    if (!group) return;
    if (name !== undefined) group.inFlight--;
    if (group.inFlight === 0 && group.visible.length === 0) this.groups.delete(name);
  }

  private isBefore(group: Group<Message>, best: Group<Message>): boolean {
    const isNoisy = this.isNoisy(group);
    if (isNoisy !== this.isNoisy(best)) return !isNoisy;
    if (isNoisy && group.inFlight !== best.inFlight) return group.inFlight < best.inFlight;
    return (group.visible[0]?.order ?? 0) < (best.visible[0]?.order ?? 0);
  }

  private isNoisy({ inFlight }: Group<Message>): boolean {
    return inFlight > NOISY_SHARE * this.inFlight;
  }
}
