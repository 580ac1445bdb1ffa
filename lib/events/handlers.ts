import type * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import type { RequestIdentity } from '../http/idempotency-store.ts';
import { page } from '../http/page.ts';
import { notFound, Problem } from '../http/problems.ts';
import type { Handlers, ViolationsOf } from '../http/serve.ts';
import { derivedFrom } from '../ids.ts';
import { parseJson } from '../json.ts';
import { cursorsOf } from '../projects/cursors.ts';
import type { Space } from '../space.ts';
import {
  batchViolations,
  type EventOutcome,
  type EventResource,
  isTooLarge,
  MAX_EVENT_BYTES,
  newEvents,
  occurredViolations,
  type PublishEvent,
  type StoredEvent,
} from './event.ts';
import type { eventOperations } from './operations.ts';
import { eventStore } from './store.ts';

const tooLarge = () => new Problem('payload_too_large', `Reduce the event to at most ${MAX_EVENT_BYTES} bytes.`);

/** The violations of `occurred_at`. */
export function eventViolations(clock: () => number): ViolationsOf<typeof eventOperations> {
  return {
    publishEvent: (json) => occurredViolations(json, clock()),
    publishEvents: (json) => batchViolations(json, clock()),
  };
}

/** Reads what the webhooks of a space got of events, and says how many events that allows in one page. */
type Outcomes = (space: Space) => Promise<{
  maxEvents: number;
  of(events: readonly StoredEvent[]): Promise<EventOutcome[]>;
}>;

export function eventHandlers(
  { table, clock, random }: Backend,
  outcomesIn: Outcomes,
): Handlers<typeof eventOperations> {
  const store = eventStore(table);
  const cursors = cursorsOf(table, random);
  // A repeated request derives the same ids, so that it publishes no second event if the first response was not stored.
  function eventsOf(
    space: Space,
    published: readonly v.InferOutput<typeof PublishEvent>[],
    identity: RequestIdentity | undefined,
  ): StoredEvent[] {
    const at = identity?.startedAt ?? clock();
    const events = published.map(({ type, data, occurred_at: occurredAt }) => ({ type, data, occurredAt }));
    return newEvents({ ...space, at }, events, identity ? derivedFrom(identity.id) : random);
  }

  // The events contain the response, so a repeated request reads them. A stored response would cost as much as a third of a batch.
  async function publishAll(
    space: Space,
    published: readonly v.InferOutput<typeof PublishEvent>[],
    identity: RequestIdentity | undefined,
  ): Promise<string[] | undefined> {
    const events = eventsOf(space, published, identity);
    if (events.some(isTooLarge)) return undefined;
    const found = identity?.isRepeated ? await store.stored(events) : undefined;
    if (!found) await store.publish(events, []);
    return (found ?? events).map((event) => event.body);
  }

  return {
    async publishEvent({ body, space }, _completing, identity) {
      const [json] = (await publishAll(space, [body], identity)) ?? [];
      return json === undefined ? tooLarge() : { json, isRepeatable: true };
    },

    async publishEvents({ body, space }, _completing, identity) {
      const bodies = await publishAll(space, body.events, identity);
      return bodies ? { json: `{"data":[${bodies.join(',')}]}`, isRepeatable: true } : tooLarge();
    },

    async getEvent({ path: { id }, space }) {
      const event = await store.get(space, id);
      return event ? { json: event.body } : notFound('event');
    },

    listEvents: (request) =>
      page(request, cursors, async (limit, after) => {
        const { document_key: documentKey, type: types, prefix, since, until, include } = request.query;
        const outcomes = include && (await outcomesIn(request.space));
        const most = Math.min(limit, outcomes?.maxEvents ?? limit);
        const listed = await store.list(request.space, {
          ...{ types, documentKey, prefix, since, until },
          ...{ limit: most, after },
        });
        const outcomeOf = await outcomes?.of(listed.events);
        const data = listed.events.map(({ body }, i) => {
          const event = parseJson(body) as unknown as v.InferOutput<typeof EventResource>;
          return { ...event, ...(outcomeOf && { outcome: outcomeOf[i] }) };
        });
        return { data, next: listed.next };
      }),
  };
}
