import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { EVENT_TYPES } from '../../../../lib/events/types.ts';
import { ButtonLink, PageTitle } from '../components/basics.tsx';
import { filterOf, textOfFilter } from '../components/document-text.ts';
import { Await, Empty } from '../components/feedback.tsx';
import { Select } from '../components/field.tsx';
import { KeyHint } from '../components/key-hint.tsx';
import type { Find } from '../components/similar-keys.ts';
import { Pager } from '../components/table.tsx';
import { EventSearch } from '../deliveries/event-search.tsx';
import type { Call, QueryOf, Result } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { goTo, linkTo, parametersOf } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';
import { findEvents } from './event-places.ts';
import { EventTable, isSettling, REFRESH_MS } from './event-table.tsx';
import { PAGE, type Page, undeliveredEvents } from './undelivered.ts';

/** The statuses of deliveries that a list of events can be filtered by. */
const STATUSES = ['failed', 'retrying', 'canceled', 'skipped'] as const;

type Filter = Pick<QueryOf<'GET /v1/events'>, 'type' | 'document_key' | 'prefix' | 'since' | 'until'>;

/** Events, newest first. The URL contains the search. An event id opens its event. */
export function Events({ query }: { query: URLSearchParams }) {
  const { call, environment } = useSession();
  const { status, cursor, period, ...filter } = parametersOf(query, ...PARAMETERS);
  const { type, document_key: documentKey, since, until } = filter;
  const text = textOfFilter(filter);
  const filters = { ...filter, period, status };
  const at = (change: Record<string, string>) => linkTo(environment, ['events'], { ...filters, ...change });
  const loaded = useEvents(filter as Filter, status, cursor);
  const others = { type, since, until };
  const find: Find = async (key) => {
    if (key !== text) return findEvents(call, environment, others as Filter, { ...others, period })(key);
    if (!type && !since && !until && !status) return undefined;
    const place = await findEvents(call, environment)(key);
    return place && { ...place, text: `All events of ${key}` };
  };
  return (
    <>
      <PageTitle actions={documentKey && <OpenDocument key={documentKey} of={documentKey} />}>Events</PageTitle>
      <EventSearch
        text={text}
        placeholder="As org:acme:plan, or org:acme:*"
        period={{ period, since, until }}
        problem={loaded.problem}
        onSearch={(key, chosen) => goTo(at({ ...filterOf(key), ...chosen }))}
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
              <NoEvents isFiltered={Boolean(type || text || status || since || until)} hasOlder={next !== null}>
                {text && !next && <KeyHint key={text} of={text} find={find} />}
              </NoEvents>
            )}
            <Pager cursor={cursor} next={next} at={at} />
          </>
        )}
      </Await>
    </>
  );
}

const PARAMETERS = ['status', 'cursor', 'type', 'document_key', 'prefix', 'period', 'since', 'until'] as const;

interface NoneProps {
  isFiltered: boolean;
  hasOlder: boolean;
  children: ComponentChildren;
}

function NoEvents({ isFiltered, hasOlder, children }: NoneProps) {
  const { can } = useSession();
  if (hasOlder) return <Empty>Nothing among the latest events. There are older ones.</Empty>;
  if (isFiltered) return <Empty action={children}>No events of the last 30 days match.</Empty>;
  const create = can('PUT /v1/documents/{key}') && (
    <ButtonLink to={['documents']} query={{ new: 'yes' }}>
      Create document
    </ButtonLink>
  );
  return <Empty action={create}>No events yet. Change a document, or publish an event with POST /v1/events.</Empty>;
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
  const key = JSON.stringify([environment, filter, status]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the filter
  const undelivered = useMemo(() => shown && undeliveredEvents(call, { ...filter, status: shown }), [call, key]);
  const loaded = useLoaded<Page>(`${key} ${cursor}`, () =>
    undelivered ? undelivered(Number(cursor) || PAGE) : latestEvents(call, filter, cursor),
  );
  const isLive = !undelivered && !cursor;
  useRepeated(isLive || isSettling(loaded.value?.rows) ? REFRESH_MS : null, loaded);
  return loaded;
}

async function latestEvents(call: Call, filter: Filter, cursor: string): Promise<Result<Page>> {
  const { value, problem } = await call('GET /v1/events', {
    query: { ...filter, include: 'outcome', limit: String(PAGE), cursor },
  });
  return problem ? { problem } : { value: { rows: value.data, next: value.next_cursor } };
}
