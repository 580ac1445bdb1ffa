export interface GroupedMessage {
  group: string | undefined;
}

interface Group<Message> {
  visible: { message: Message; order: number }[];
  inFlight: number;
}

/**
 * The order in which a fair queue returns messages. The groups with the fewest messages in flight are first, so a group with slow
 * or many messages delays only itself. Among them, the oldest message is first. SQS does this too, but only when a group has a large
 * share of the messages in flight (Amazon SQS Developer Guide, "How Amazon SQS fair queues work"). Messages without a group never
 * wait for others.
 */
export class FairOrder<Message extends GroupedMessage> {
  private readonly groups = new Map<string | undefined, Group<Message>>();
  private waiting = 0;
  private shown = 0;

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
      if (group.visible.length > 0 && (!best || isBefore(group, best))) best = group;
    const message = best?.visible.shift()?.message;
    if (!best || !message) return undefined;
    if (message.group !== undefined) best.inFlight++;
    this.waiting--;
    return message;
  }

  /** Ends the flight of a message. */
  end({ group: name }: Message): void {
    const group = this.groups.get(name);
    if (!group) return;
    if (name !== undefined) group.inFlight--;
    if (group.inFlight === 0 && group.visible.length === 0) this.groups.delete(name);
  }
}

function isBefore<Message>(group: Group<Message>, best: Group<Message>): boolean {
  if (group.inFlight !== best.inFlight) return group.inFlight < best.inFlight;
  return (group.visible[0]?.order ?? 0) < (best.visible[0]?.order ?? 0);
}
