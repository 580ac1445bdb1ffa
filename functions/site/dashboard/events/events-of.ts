import { timeOf } from '../../../../lib/id-time.ts';
import type { Call, Delivery, EntryOf, QueryOf, Result } from '../state/api.ts';

export type ListedEvent = EntryOf<'GET /v1/events'>;
type Filter = Pick<QueryOf<'GET /v1/events'>, 'type' | 'document_key' | 'prefix'>;

/** Pages that are read at once. Further events are read one by one, because many others are between them. */
const MAX_PAGES = 2;

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Reads the events of deliveries that match a filter, with their outcomes, in the order of the deliveries: newest first. Expired events are
 * missing.
 */
export async function readEventsOf(
  call: Call,
  deliveries: readonly Delivery[],
  { type, document_key, prefix }: Filter,
): Promise<Result<ListedEvent[]>> {
  const [first, last] = [deliveries.at(0), deliveries.at(-1)];
  if (!first || !last) return { value: [] };
  const isMissing = ({ event_id }: Delivery) => !events.has(event_id);
  const events = new Map<string, ListedEvent>();

  async function read(query: QueryOf<'GET /v1/events'>, maxPages: number): Promise<Result<true>> {
    let cursor: string | null | undefined;
    for (let page = 0; page < maxPages && cursor !== null && deliveries.some(isMissing); page++) {
      const options = { ...query, include: 'outcome', limit: '100', cursor } as const;
      const { value, problem } = await call('GET /v1/events', { query: options });
      if (problem) return { problem };
      for (const event of value.data) events.set(event.id, event);
      cursor = value.next_cursor;
    }
    return { value: true };
  }

  const whole = await read({ ...spanOf(first, last), type, document_key, prefix }, MAX_PAGES);
  if (whole.problem) return whole;
  const single = (delivery: Delivery) =>
    read({ ...spanOf(delivery, delivery), document_key: delivery.document_key ?? '' }, Number.POSITIVE_INFINITY);
  for (const { problem } of await Promise.all(deliveries.filter(isMissing).map(single)))
    if (problem) return { problem };
  return { value: deliveries.flatMap(({ event_id }) => events.get(event_id) ?? []) };
}

/** The times of the events of deliveries from the newest to the oldest. */
const spanOf = (newest: Delivery, oldest: Delivery): { since: string; until: string } => ({
  since: iso(timeOf(oldest.event_id)),
  until: iso(timeOf(newest.event_id) + 1),
});
