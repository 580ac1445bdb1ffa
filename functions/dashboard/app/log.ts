import type { EventType } from '../../../lib/events/types.ts';
import type { Call, Delivery, ResponseOf, Result } from './api.ts';

/** Which deliveries of a webhook, and from where on. */
export interface LogQuery {
  status: Delivery['status'] | undefined;
  type: EventType | undefined;
  since: string | undefined;
  documentKey: string | undefined;
  cursor: string | undefined;
}

type LogPage = ResponseOf<'GET /v1/webhooks/{id}/deliveries'>;

const PAGE = '25';

/**
 * A page of the log of a webhook, newest first; it may be short, or empty, before the end. That of one document is found by the
 * events of the document, of which there are far fewer than in the log: test deliveries are not among them.
 */
export async function readLog(
  call: Call,
  id: string,
  { documentKey, status, ...rest }: LogQuery,
): Promise<Result<LogPage>> {
  const query = { ...rest, limit: PAGE };
  if (documentKey === undefined)
    return call('GET /v1/webhooks/{id}/deliveries', { path: { id }, query: { ...query, status } });
  const events = await call('GET /v1/events', { query: { ...query, document_key: documentKey } });
  if (events.problem) return events;
  const results = await Promise.all(
    events.value.data.map((event) =>
      call('GET /v1/webhooks/{id}/deliveries/{event_id}', { path: { id, event_id: event.id } }),
    ),
  );
  const problem = results.find((result) => result.problem && result.problem.code !== 'not_found')?.problem;
  if (problem) return { problem };
  const sent = results.flatMap(({ value }) => value ?? []); // other webhooks took the others
  const data = sent.filter((delivery) => status === undefined || delivery.status === status);
  return { value: { data, next_cursor: events.value.next_cursor } };
}
