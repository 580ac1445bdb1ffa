import { notFound, Problem } from '../api/problems.ts';
import { isTooLarge, MAX_EVENT_BYTES, newEvent, type StoredEvent } from '../events/events.ts';
import type { Handlers } from '../http/serve.ts';
import { derivedId, type Random, sortableId } from '../ids.ts';
import type { TransactionPart } from '../transaction.ts';

/** Published events. Whatever stores one has it delivered. */
export interface Events {
  /** All or none; at most 100 with `also`. Events that are stored already, by an earlier run of the request, stay. */
  publish(events: readonly StoredEvent[], also: readonly TransactionPart[]): Promise<void>;
  get(id: string): Promise<StoredEvent | undefined>;
}

export interface EventsDeps {
  events: Events;
  clock(): number;
  random: Random;
}

const tooLarge = () => new Problem('payload_too_large', `An event can have at most ${MAX_EVENT_BYTES} bytes.`);

export function eventHandlers({ events, clock, random }: EventsDeps): Handlers<'events'> {
  return {
    async publishEvent({ body, space }, idempotencyWrites) {
      const now = clock();
      const event = newEvent({ ...space, ...body, id: sortableId('evt', now, random), at: now });
      if (isTooLarge(event)) return tooLarge();
      const response = { json: event.body };
      await events.publish([event], idempotencyWrites(response));
      return response;
    },

    // Not completed in the same transaction: with 100 events there is no room for it. So a repetition makes the same events.
    async publishEvents({ body, space }, _completing, identity) {
      const at = identity?.startedAt ?? clock();
      const published = body.events.map((event, i) => {
        const id = identity ? derivedId('evt', at, `${identity.id} ${i}`) : sortableId('evt', at, random);
        return newEvent({ ...space, ...event, id, at });
      });
      if (published.some(isTooLarge)) return tooLarge();
      await events.publish(published, []);
      return { json: `{"data":[${published.map((event) => event.body).join(',')}]}` };
    },

    async getEvent({ path: { id = '' }, space }) {
      const event = await events.get(id);
      const isOwn = event?.projectId === space.projectId && event.environment === space.environment;
      return event && isOwn ? { json: event.body } : notFound('event');
    },
  };
}
