import * as v from 'valibot';
import type { PathParameter } from '../http/path-parameter.ts';
import type { Random } from '../ids.ts';
import { idOf } from '../ids.ts';
import { isJsonObject, type Json } from '../json.ts';
import { list } from '../lists.ts';
import { optional } from '../optional.ts';
import {
  check,
  described,
  iso,
  jsonObject,
  named,
  oneOf,
  pathItem,
  request,
  resource,
  timestamp,
  timestampInput,
  type Violation,
  wholeNumber,
} from '../schema.ts';
import type { Space } from '../space.ts';
import { completed } from './completed-data.ts';
import { EVENT_DATA, type EventData } from './data.ts';
import { documentKeyIn, newEventIds } from './placement.ts';
import { EVENT_TYPES, type EventType } from './types.ts';

/** The maximum bytes of an event, stored and sent. */
export const MAX_EVENT_BYTES = 256 * 1024;
/** Events in one batch. */
export const MAX_BATCH = 100;
export const EVENT_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/** How far in the future `occurred_at` can be, because the clock of a publisher can be ahead. */
export const MAX_AHEAD_MS = 5 * 60 * 1000;

type TypedData = { type: EventType; data?: { [key: string]: Json } | undefined };

/** Completes `data`, if present, and checks that it is what its event type requires. */
export const dataOfType = <Input extends TypedData>() =>
  v.rawTransform<Input, Input>(({ dataset: { value }, addIssue, NEVER }) => {
    if (value.data === undefined) return value;
    const data = completed(value.type, value.data);
    const { issues = [] } = v.safeParse(EVENT_DATA[value.type], data);
    for (const issue of issues)
      addIssue({
        message: issue.input === undefined ? 'is required' : issue.message,
        path: [pathItem(value, 'data'), ...((issue.path ?? []) as [])],
      });
    return issues.length > 0 ? NEVER : { ...value, data };
  });

export const OccurredAt = described(
  timestampInput,
  'When the event happened in your engine: at most 30 days ago and not in the future, with a tolerance of 5 minutes. The event contains it to the millisecond.',
);

/** The violations of `occurred_at`, whose field starts with `root`. The schema rejects values that are no time. */
export function occurredViolations(event: unknown, nowMs: number, root = ''): Violation[] {
  const occurred = check(timestampInput, isJsonObject(event) ? event.occurred_at : undefined);
  if ('violations' in occurred) return [];
  const isInRange = occurred.value >= nowMs - EVENT_RETENTION_MS && occurred.value <= nowMs + MAX_AHEAD_MS;
  const detail = 'must be at most 30 days ago, and not in the future';
  return isInRange ? [] : [{ field: `${root}occurred_at`, detail }];
}

/** The same of each event of a batch. More events are a violation of the schema. */
export function batchViolations(json: unknown, nowMs: number): Violation[] {
  const events = isJsonObject(json) && Array.isArray(json.events) ? json.events.slice(0, MAX_BATCH) : [];
  return events.flatMap((event, i) => occurredViolations(event, nowMs, `events[${i}].`));
}

export const PublishEvent = named(
  'PublishEvent',
  v.pipe(
    v.strictObject({ type: oneOf(EVENT_TYPES), occurred_at: optional(OccurredAt), data: jsonObject }),
    dataOfType(),
  ),
);
export const PublishEvents = request('PublishEvents', {
  events: described(list(PublishEvent, 1, MAX_BATCH), 'The events. The service publishes all of them or none.'),
});

const deliveriesThat = (are: string) => described(wholeNumber(), `The number of webhooks ${are}.`);

const EventOutcome = v.object({
  delivered: deliveriesThat('that accepted the event'),
  pending: deliveriesThat('with a `pending` or `retrying` delivery of the event'),
  undelivered: deliveriesThat('with a `failed`, `canceled` or `skipped` delivery of the event'),
});
export type EventOutcome = v.InferOutput<typeof EventOutcome>;

export const EventResource = resource('Event', {
  id: described(v.string(), 'A unique id. Ids sort by time, and in the order of publication within a batch.'),
  type: described(v.picklist(EVENT_TYPES), 'The type of the event.'),
  timestamp: described(timestamp, 'When the service accepted the event.'),
  occurred_at: v.optional(
    described(timestamp, 'When the event happened in the engine that published it, if the engine sent it.'),
  ),
  outcome: v.optional(
    described(
      EventOutcome,
      'Who received the event, only in lists with `include=outcome`. Deleted webhooks do not count, and neither do deliveries that a webhook missed because a request had paused it.',
    ),
  ),
  data: described(jsonObject, 'The data of the event. Its shape depends on the type, and more members can be present.'),
});

/** A stored event. Every delivery sends exactly the bytes of `body`. */
export interface StoredEvent extends Space {
  id: string;
  type: EventType;
  body: string;
  at: number;
  /** The document that it is about. */
  documentKey?: string | undefined;
  /** The only webhook of a test event. */
  webhookId?: string | undefined;
}

/** Whether an event is a sample that goes to one webhook only. */
export const isTest = ({ webhookId }: Pick<StoredEvent, 'webhookId'>): boolean => webhookId !== undefined;

/** Up to `limit` events of a space, from a position on. Lists exclude test events. */
export interface EventPage {
  types?: readonly EventType[] | undefined;
  documentKey?: string | undefined;
  /** Only events of documents in this part of the hierarchy (see `startsWithSegments`). */
  prefix?: string | undefined;
  /** At this time or later, and before `until`. */
  since?: number | undefined;
  until?: number | undefined;
  limit: number;
  after?: string | undefined;
}

interface NewEvent extends Space {
  at: number;
  type: EventType;
  data: { [member: string]: Json } | EventData;
  /** When it happened, if the publisher says so. */
  occurredAt?: number | undefined;
  webhookId?: string;
}

/** Creates the immutable events of one publication, in their order, with new ids and final bodies. */
export function newEvents(
  { projectId, environment, at }: Space & Pick<NewEvent, 'at'>,
  events: readonly Pick<NewEvent, 'type' | 'data' | 'occurredAt' | 'webhookId'>[],
  random: Random,
): StoredEvent[] {
  const ids = newEventIds(
    events.map(({ data }) => data),
    at,
    random,
  );
  return events.map((event, i) => eventWithId({ projectId, environment, at, ...event, id: ids[i] as string }));
}

/** Creates the only event of a publication. */
export const newEvent = ({ projectId, environment, at, ...event }: NewEvent, random: Random): StoredEvent =>
  newEvents({ projectId, environment, at }, [event], random)[0] as StoredEvent;

export function eventWithId({ data, occurredAt, ...event }: NewEvent & { id: string }): StoredEvent {
  const occurred = occurredAt !== undefined && { occurred_at: iso(occurredAt) };
  const body = JSON.stringify({ id: event.id, type: event.type, timestamp: iso(event.at), ...occurred, data });
  const documentKey = documentKeyIn(data as object);
  return { ...event, ...(documentKey !== undefined && { documentKey }), body };
}

export const isTooLarge = ({ body }: Pick<StoredEvent, 'body'>): boolean => Buffer.byteLength(body) > MAX_EVENT_BYTES;

export const eventParameter: PathParameter = {
  resource: 'event',
  schema: idOf('evt'),
  description: 'The id of the event.',
  example: 'evt_01KG9Y0A1N3P5R7S9TVXZB2D4F',
};
