import type { Access } from './access.ts';
import type { Outbox } from './outbox.ts';
import type { Rejection } from './publish-batch.ts';

/** An event to publish. */
export interface NewEvent {
  type: string;
  data: object;
  occurred_at?: string | null;
}

export interface PublisherOptions<Event extends NewEvent = NewEvent> extends Access {
  /** Where events wait. By default, they are lost when the process ends. */
  outbox?: Outbox;
  /** How long an event waits for others in its batch. The default is 1. */
  maxWaitSeconds?: number;
  /** The most events in the outbox, and the most calls of `publish` that wait for room. The default is 10,000. */
  maxBuffered?: number;
  /** The service has accepted this number of events. An error that this function throws is ignored. */
  onPublished?(count: number): void;
  /** The service never accepts this event. The publisher drops it and continues, also if this function throws. */
  onRejected?(event: Event, problem: Rejection): void;
  /** A request failed. The publisher repeats it after these seconds, also if this function throws. */
  onRetry?(reason: string, waitSeconds: number): void;
}

/** The events in the outbox, and counts since the start. `refused` counts calls of `publish` that threw, because the buffer was full. */
export interface PublisherStats {
  buffered: number;
  published: number;
  rejected: number;
  refused: number;
  retries: number;
}

/** Calls `add`, for example in a transaction with the change that the event is about. */
export type Store = (add: () => Promise<void> | void) => Promise<void> | void;

export interface Publisher<Event extends NewEvent = NewEvent> {
  /**
   * Resolves when the event is in the outbox, which can wait for room. Throws if the event is too large or is not JSON, if too many
   * calls wait, and after `close`. The service accepts events in the order of the calls. `store` adds the event to the outbox.
   */
  publish(event: Event, store?: Store): Promise<void>;
  /** Publishes without waiting for more events. Resolves when the earlier events have left the outbox. */
  flush(): Promise<void>;
  /** Publishes for at most these seconds (default 10) and ends. Returns the number of events that stay in the outbox. */
  close(maxSeconds?: number): Promise<number>;
  stats(): PublisherStats;
}
