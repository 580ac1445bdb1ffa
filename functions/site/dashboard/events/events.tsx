import { useMemo } from 'preact/hooks';
import { EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import { ButtonLink, PageTitle } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Select } from '../components/field.tsx';
import { Pager } from '../components/table.tsx';
import { EventSearch } from '../deliveries/event-search.tsx';
import type { Call, Result } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { goTo, linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { type EventRow, EventTable, rowOf } from './event-table.tsx';
import { undeliveredEvents } from './undelivered.ts';

const PAGE = 25;
const REFRESH_MS = 5000;

/** The statuses of deliveries that a list of events can be filtered by. */
const STATUSES = ['failed', 'retrying', 'canceled', 'skipped'] as const;

interface Filter {
  type?: EventType | undefined;
  document_key?: string | undefined;
}

interface Page {
  rows: EventRow[];
  /** The position of the next page. */
  next: string | null;
}

/** Events, newest first. The URL contains the search. An event id opens its event. */
export function Events({ query }: { query: URLSearchParams }) {
  const { environment } = useSession();
  const type = query.get('type') ?? '';
  const documentKey = query.get('document_key') ?? '';
  const status = query.get('status') ?? '';
  const cursor = query.get('cursor') ?? '';
  const at = (change: Record<string, string>) =>
    linkTo(environment, ['events'], { type, document_key: documentKey, status, ...change });
  const loaded = useEvents({ type, documentKey, status, cursor });
  const isFiltered = Boolean(type || documentKey || status);
  const byPrefix = (
    <ButtonLink href={linkTo(environment, ['documents'], { prefix: documentKey.replace(/[:*]+$/, '') })}>
      Search documents by prefix
    </ButtonLink>
  );
  const create = <ButtonLink href={linkTo(environment, ['documents'], { new: 'yes' })}>Create document</ButtonLink>;
  return (
    <>
      <PageTitle actions={documentKey && <OpenDocument key={documentKey} of={documentKey} />}>Events</PageTitle>
      <EventSearch
        documentKey={documentKey}
        problem={loaded.problem}
        onDocument={(key) => goTo(at({ document_key: key }))}
        onEvent={(id) => goTo(linkTo(environment, ['events', id]))}
      >
        <Select
          label="Type"
          value={type}
          options={[['', 'All'], ...EVENT_TYPES.map((each) => [each, each] as const)]}
          onChange={(chosen) => goTo(at({ type: chosen }))}
        />
        <Select
          label="Deliveries"
          value={status}
          options={[['', 'All'], ...STATUSES.map((each) => [each, `Any ${each}`] as const)]}
          onChange={(chosen) => goTo(at({ status: chosen }))}
        />
      </EventSearch>
      <Await of={loaded}>
        {({ rows, next }) => (
          <>
            {rows.length > 0 ? (
              <EventTable rows={rows} />
            ) : (
              <Empty action={!next && (isFiltered ? documentKey && byPrefix : create)}>
                {next
                  ? 'Nothing among the latest events. There are older ones.'
                  : documentKey
                    ? 'No events of the last 30 days match. The document key must match exactly, such as org:acme:invoice-1201.'
                    : isFiltered
                      ? 'No events of the last 30 days match.'
                      : 'No events yet. Change a document, or publish an event with POST /v1/events.'}
              </Empty>
            )}
            <Pager cursor={cursor} next={next} at={at} />
          </>
        )}
      </Await>
    </>
  );
}

/** Links to a document, if the service stores it. */
function OpenDocument({ of: key }: { of: string }) {
  const { call, environment } = useSession();
  const { value } = useLoaded(`${environment} ${key}`, () => call('GET /v1/documents/{key}', { path: { key } }));
  return value ? <ButtonLink href={linkTo(environment, ['documents', key])}>Open document</ButtonLink> : null;
}

/** Loads a page of events. With a status, a page contains the ones before it too, and its position is their number. */
function useEvents({
  type,
  documentKey,
  status,
  cursor,
}: Record<'type' | 'documentKey' | 'status' | 'cursor', string>) {
  const { call, environment } = useSession();
  const filter: Filter = { type: (type || undefined) as EventType | undefined, document_key: documentKey || undefined };
  const shown = STATUSES.find((each) => each === status);
  const key = [environment, type, documentKey, status].join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the filter
  const undelivered = useMemo(() => shown && undeliveredEvents(call, { ...filter, status: shown }), [call, key]);
  const loaded = useLoaded<Page>(
    undelivered ? key : `${key} ${cursor}`,
    () => (undelivered ? undelivered(Number(cursor) || PAGE) : latestEvents(call, filter, cursor)),
    Number(cursor) || 0,
  );
  useRepeated(undelivered || cursor ? null : REFRESH_MS, loaded.reload);
  return loaded;
}

async function latestEvents(call: Call, filter: Filter, cursor: string): Promise<Result<Page>> {
  const query = { ...filter, limit: String(PAGE), cursor: cursor || undefined };
  const { value, problem } = await call('GET /v1/events', { query });
  return problem ? { problem } : { value: { rows: value.data.map(rowOf), next: value.next_cursor } };
}
