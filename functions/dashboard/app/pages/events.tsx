import { useState } from 'preact/hooks';
import { EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import type { EntryOf } from '../api.ts';
import { Button, Form, PageTitle } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Input, Select, violationOf } from '../components/field.tsx';
import { type Column, Pager, Table } from '../components/table.tsx';
import { ShortTime } from '../components/time.tsx';
import { useLoaded, useRepeated } from '../hooks.ts';
import { goTo, linkTo } from '../router.ts';
import { useSession } from '../session.ts';

type Event = EntryOf<'GET /v1/events'>;

const PAGE = 25;
const REFRESH_MS = 5000;

/** Events, newest first. What is searched for is part of the URL; an id leads to its event at once. */
export function Events({ query }: { query: URLSearchParams }) {
  const { call, environment } = useSession();
  const type = query.get('type') ?? '';
  const documentKey = query.get('document_key') ?? '';
  const cursor = query.get('cursor') ?? '';
  const [typed, setTyped] = useState(documentKey);
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
  const search = () => {
    const text = typed.trim();
    goTo(text.startsWith('evt_') ? linkTo(environment, ['events', text]) : at({ document_key: text }));
  };
  return (
    <>
      <PageTitle>Events</PageTitle>
      <Form class="filters" role="search" onSubmit={search}>
        <Input
          label="Document key or event id"
          value={typed}
          onInput={setTyped}
          error={violationOf(loaded.problem, 'document_key')}
        />
        <Select
          label="Type"
          value={type}
          options={[['', 'All'], ...EVENT_TYPES.map((each) => [each, each] as const)]}
          onChange={(chosen) => goTo(at({ type: chosen }))}
        />
        <Button type="submit">Search</Button>
      </Form>
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

/** Each with its revision, if it is about a document. */
export function EventTable({ events }: { events: Event[] }) {
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
    ['Document', ({ data }) => <DocumentLink of={data} />, 'wide'],
    ['Revision', ({ data }) => (typeof data['revision'] === 'number' ? data['revision'] : '–'), 'number'],
    ['Time', ({ timestamp }) => <ShortTime at={timestamp} />, 'number'],
  ];
  return <Table caption="Events" columns={columns} rows={events} keyOf={({ id }) => id} isDense />;
}

/** The document that an event is about, if it is about one. */
export function DocumentLink({ of: { document_key: key } }: { of: Record<string, unknown> }) {
  const { environment } = useSession();
  return typeof key === 'string' ? <a href={linkTo(environment, ['documents', key])}>{key}</a> : <>–</>;
}
