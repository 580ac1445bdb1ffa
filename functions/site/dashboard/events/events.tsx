import { useMemo } from 'preact/hooks';
import { EVENT_TYPES } from '../../../../lib/events/types.ts';
import { ButtonLink, PageTitle } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Select } from '../components/field.tsx';
import { Pager } from '../components/table.tsx';
import { EventSearch } from '../deliveries/event-search.tsx';
import type { Call, QueryOf, Result } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { goTo, linkTo, parametersOf } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';
import { EventTable, REFRESH_MS, rowOf } from './event-table.tsx';
import { PAGE, type Page, undeliveredEvents } from './undelivered.ts';

/** The statuses of deliveries that a list of events can be filtered by. */
const STATUSES = ['failed', 'retrying', 'canceled', 'skipped'] as const;

type Filter = Pick<QueryOf<'GET /v1/events'>, 'type' | 'document_key'>;

/** Events, newest first. The URL contains the search. An event id opens its event. */
export function Events({ query }: { query: URLSearchParams }) {
  const { environment } = useSession();
  const { status, cursor, ...filter } = parametersOf(query, 'status', 'cursor', 'type', 'document_key');
  const { type, document_key: documentKey } = filter;
  const at = (change: Record<string, string>) => linkTo(environment, ['events'], { ...filter, status, ...change });
  const loaded = useEvents(filter as Filter, status, cursor);
  const isFiltered = Boolean(type || documentKey || status);
  const byPrefix = (
    <ButtonLink to={['documents']} query={{ prefix: documentKey.replace(/[:*]+$/, '') }}>
      Search documents by prefix
    </ButtonLink>
  );
  const create = (
    <ButtonLink to={['documents']} query={{ new: 'yes' }}>
      Create document
    </ButtonLink>
  );
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
  const { value } = useRead('GET /v1/documents/{key}', { path: { key } });
  return value ? <ButtonLink to={['documents', key]}>Open document</ButtonLink> : null;
}

/** Loads a page of events. With a status, the position of a page is the number of events up to its end. */
function useEvents(filter: Filter, status: string, cursor: string) {
  const { call, environment } = useSession();
  const shown = STATUSES.find((each) => each === status);
  const key = [environment, filter.type, filter.document_key, status].join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the filter
  const undelivered = useMemo(() => shown && undeliveredEvents(call, { ...filter, status: shown }), [call, key]);
  const loaded = useLoaded<Page>(`${key} ${cursor}`, () =>
    undelivered ? undelivered(Number(cursor) || PAGE) : latestEvents(call, filter, cursor),
  );
  useRepeated(undelivered || cursor ? null : REFRESH_MS, loaded);
  return loaded;
}

async function latestEvents(call: Call, filter: Filter, cursor: string): Promise<Result<Page>> {
  const { value, problem } = await call('GET /v1/events', {
    query: { ...filter, include: 'outcome', limit: String(PAGE), cursor },
  });
  return problem ? { problem } : { value: { rows: value.data.map(rowOf), next: value.next_cursor } };
}
