import { startsWithSegments } from '../../../../lib/documents/patterns.ts';
import { all, type Call, type Delivery, type QueryOf, type Result, type Webhook } from '../state/api.ts';
import { type ListedEvent, readEventsOf } from './events-of.ts';

type Filter = Pick<QueryOf<'GET /v1/events'>, 'type' | 'document_key' | 'prefix' | 'since' | 'until'> &
  Pick<QueryOf<'GET /v1/webhooks/{id}/deliveries'>, 'status'>;

/** The number of events of a page. */
export const PAGE = 25;

export interface Page {
  rows: ListedEvent[];
  /** The position of the next page. */
  next: string | null;
}

/** The log of one webhook, as far as it has been read. */
interface Log {
  webhookId: string;
  unused: Delivery[];
  /** `null` at the end of the log. */
  cursor: string | null | undefined;
}

/**
 * Returns a function that reads a page of the events with any delivery of a status, newest first, by the number of events up to its
 * end. It merges the logs of the webhooks and continues where the last call ended. It reads only the logs of webhooks with problems,
 * because each log costs 16 queries. The counts that select them are at most a minute late.
 */
export function undeliveredEvents(call: Call, filter: Filter): (count: number) => Promise<Result<Page>> {
  const { prefix = '', ...ofLog } = filter;
  const found: Delivery[] = [];
  let logs: Log[] | undefined;
  const isListed = (key: string | null) => prefix === '' || (key !== null && startsWithSegments(key, prefix));

  async function fill(log: Log): Promise<Result<true>> {
    while (log.unused.length === 0 && log.cursor !== null) {
      const limit = filter.document_key ? '100' : '25'; // the log of a document is read whole
      const query = { ...ofLog, limit, cursor: log.cursor };
      const { value, problem } = await call('GET /v1/webhooks/{id}/deliveries', { path: { id: log.webhookId }, query });
      if (problem) return { problem };
      log.unused = value.data.filter(({ test, document_key }) => !test && isListed(document_key));
      log.cursor = value.next_cursor;
    }
    return { value: true };
  }

  /** Drops further deliveries of the last event, and returns the next one without using it. */
  async function peek(known: readonly Log[]): Promise<Result<Log | undefined>> {
    for (;;) {
      for (const { problem } of await Promise.all(known.map(fill))) if (problem) return { problem };
      const newest = known.reduce<Log | undefined>((best, log) => (nextIn(log) > nextIn(best) ? log : best), undefined);
      if (!newest || nextIn(newest) !== found.at(-1)?.event_id) return { value: newest };
      newest.unused.shift();
    }
  }

  async function read(count: number): Promise<Result<Page>> {
    if (!logs) {
      const { value, problem } = await webhooksWithProblems(call);
      if (problem) return { problem };
      logs = value.map(({ id }) => ({ webhookId: id, unused: [], cursor: undefined }));
    }
    for (;;) {
      const { value: log, problem } = await peek(logs);
      if (problem) return { problem };
      if (!log || found.length >= count) {
        // The last page if the events of this one have been delivered since.
        const end = found.length > count - PAGE ? count : Math.ceil(found.length / PAGE) * PAGE;
        const events = await readEventsOf(call, found.slice(Math.max(0, end - PAGE), end), filter);
        if (events.problem) return events;
        return { value: { rows: events.value, next: log ? String(count + PAGE) : null } };
      }
      found.push(...log.unused.splice(0, 1));
    }
  }

  let reading: Promise<unknown> = Promise.resolve();
  return (count) => {
    const result = reading.then(() => read(count));
    reading = result;
    return result;
  };
}

/** The id of the next event of a log. Ids sort by time. */
const nextIn = (log: Log | undefined): string => log?.unused[0]?.event_id ?? '';

/** The webhooks whose logs have undelivered events. */
async function webhooksWithProblems(call: Call): Promise<Result<Webhook[]>> {
  const { value, problem } = await all(call, 'GET /v1/webhooks');
  if (problem) return { problem };
  const hasProblems = ({ status, failing_since, undelivered, retrying }: Webhook) =>
    status === 'disabled' || failing_since !== null || undelivered + retrying > 0;
  return { value: value.filter(hasProblems) };
}
