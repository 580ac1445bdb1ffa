import { EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import { Badge, PageTitle } from '../components/basics.tsx';
import { DocumentLink } from '../components/document-link.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Select } from '../components/field.tsx';
import { type Column, Pager, Table } from '../components/table.tsx';
import { ShortTime } from '../components/time.tsx';
import { EventSearch } from '../deliveries/event-search.tsx';
import type { EntryOf } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { goTo, linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';

type Event = EntryOf<'GET /v1/events'>;

const PAGE = 25;
const REFRESH_MS = 5000;

/** Events, newest first. The URL contains the search. An event id opens its event. */
export function Events({ query }: { query: URLSearchParams }) {
  const { call, environment } = useSession();
  const type = query.get('type') ?? '';
  const documentKey = query.get('document_key') ?? '';
  const cursor = query.get('cursor') ?? '';
  const at = (change: Record<string, string>) =>
    linkTo(environment, ['events'], { type, document_key: documentKey, ...change });
  const loaded = useLoaded(`${environment} ${type} ${documentKey} ${cursor}`, () =>
    call('GET /v1/events', {
      query: {
        limit: String(PAGE),
        type: type ? (type as EventType) : undefined,
        document_key: documentKey || undefined,
        cursor: cursor || undefined,
      },
    }),
  );
  useRepeated(cursor === '' ? REFRESH_MS : null, loaded.reload);
  return (
    <>
      <PageTitle>Events</PageTitle>
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
      </EventSearch>
      <Await of={loaded}>
        {({ data, next_cursor }) => (
          <>
            {data.length > 0 ? (
              <EventTable events={data} />
            ) : (
              <Empty>
                {next_cursor
                  ? 'Nothing among the latest events. There are older ones.'
                  : type || documentKey
                    ? 'No events of the last 30 days match.'
                    : 'No events yet. Change a document, or publish one with POST /v1/events.'}
              </Empty>
            )}
            <Pager cursor={cursor} next={next_cursor} at={at} />
          </>
        )}
      </Await>
    </>
  );
}

/** Lists events with their documents and revisions. With `isOfOne`, all events belong to one document. */
export function EventTable({ events, isOfOne = false }: { events: Event[]; isOfOne?: boolean }) {
  const { environment } = useSession();
  const columns: Column<Event>[] = [
    [
      'Event',
      ({ id, type }) => (
        <a href={linkTo(environment, ['events', id])} title={id}>
          {type}
        </a>
      ),
    ],
    ...(isOfOne ? [] : [DOCUMENT]),
    ['Deliveries', ({ id }) => <EventOutcome id={id} />],
    ['Revision', ({ data }) => (typeof data['revision'] === 'number' ? data['revision'] : '–'), 'number'],
    ['Time', ({ timestamp }) => <ShortTime at={timestamp} />, 'number'],
  ];
  return <Table caption="Events" columns={columns} rows={events} keyOf={({ id }) => id} isDense />;
}

/** How many webhooks have accepted an event. */
function EventOutcome({ id }: { id: string }) {
  const { call } = useSession();
  const { value } = useLoaded(id, () =>
    call('GET /v1/events/{id}/deliveries', { path: { id }, query: { limit: '100' } }),
  );
  if (!value)
    return (
      <span class="muted" aria-busy="true">
        …
      </span>
    );
  const { data } = value;
  if (data.length === 0) return <span class="muted">none</span>;
  const delivered = data.filter(({ status }) => status === 'succeeded').length;
  const isFailed = data.some(({ status }) => status === 'failed');
  const tone = delivered === data.length ? 'good' : isFailed ? 'bad' : 'waiting';
  return (
    <Badge tone={tone}>
      {delivered} of {data.length} delivered
    </Badge>
  );
}

const DOCUMENT: Column<Event> = ['Document', ({ data }) => <DocumentLink to={data['document_key']} />, 'wide'];
