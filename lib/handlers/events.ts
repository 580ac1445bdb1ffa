import { notFound, Refusal } from '../api/problems.ts';
import type { events as eventRecords } from '../aws/dynamodb/events.ts';
import type { Clock } from '../aws/system.ts';
import { isTooLarge, MAX_EVENT_BYTES, newEvent } from '../events/events.ts';
import type { Handlers } from '../http/serve.ts';
import { derivedId, type Random, sortableId } from '../ids.ts';

export interface EventsDeps {
  events: ReturnType<typeof eventRecords>;
  clock: Clock;
  random: Random;
}

const tooLarge = () => new Refusal('payload_too_large', `An event may have at most ${MAX_EVENT_BYTES} bytes.`);

export function eventHandlers({ events, clock, random }: EventsDeps): Handlers<'events'> {
  return {
    async publishEvent({ body, space }, completing) {
      const now = clock();
      const event = newEvent({ ...space, ...body, id: sortableId('evt', now, random), at: now });
      if (isTooLarge(event)) return tooLarge();
      const reply = { json: event.body };
      await events.publish([event], completing(reply));
      return reply;
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
