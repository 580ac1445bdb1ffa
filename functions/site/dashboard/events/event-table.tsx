import { Badge, Link } from '../components/basics.tsx';
import { DocumentLink } from '../components/document-link.tsx';
import { type Column, Table } from '../components/table.tsx';
import { ShortTime } from '../components/time.tsx';
import { serverNow } from '../state/api.ts';
import type { ListedEvent } from './events-of.ts';

/** Lists events with their documents, outcomes and, if any has one, revisions. With `isOfOne`, all events belong to one document. */
export function EventTable({ rows, isOfOne = false }: { rows: ListedEvent[]; isOfOne?: boolean }) {
  const columns: Column<ListedEvent>[] = [
    [
      'Event',
      ({ id, type }) => (
        <Link to={['events', id]} title={id}>
          {type}
        </Link>
      ),
    ],
    ...(isOfOne ? [] : [DOCUMENT]),
    ['Deliveries', ({ outcome }) => outcome && <Outcome of={outcome} />],
    ...(rows.some(({ data }) => data['revision'] !== undefined) ? [REVISION] : []),
    ['Event time', ({ timestamp }) => <ShortTime at={timestamp} />, 'number'],
  ];
  return <Table caption="Events" columns={columns} rows={rows} keyOf={({ id }) => id} isDense />;
}

const DOCUMENT: Column<ListedEvent> = ['Document', ({ data }) => <DocumentLink to={data['document_key']} />, 'wide'];

const REVISION: Column<ListedEvent> = [
  'Revision',
  ({ data: { revision } }) => (typeof revision === 'number' ? revision : '–'),
  'number',
];

/** How often a list reads outcomes that are about to change. */
export const REFRESH_MS = 5000;
/** A delivery of a new event is pending for a moment. */
const NEW_MS = 60_000;
const isNew = (at: string): boolean => serverNow() - Date.parse(at) < NEW_MS;

/** Whether the outcome of an event of a list is about to change. */
export const isSettling = (events: readonly ListedEvent[] = []): boolean =>
  events.some(({ outcome, timestamp }) => outcome !== undefined && outcome.pending > 0 && isNew(timestamp));

/** Who received an event. It is green only if every webhook that should have it received it. */
function Outcome({ of: { delivered, pending, undelivered } }: { of: NonNullable<ListedEvent['outcome']> }) {
  if (delivered + pending + undelivered === 0) return <span class="muted">none</span>;
  const parts = [
    `${delivered} delivered`,
    ...(pending > 0 ? [`${pending} pending`] : []),
    ...(undelivered > 0 ? [`${undelivered} missed`] : []),
  ];
  const isComplete = pending + undelivered === 0;
  return (
    <Badge tone={isComplete ? 'good' : 'waiting'} icon={undelivered > 0 ? 'warning' : undefined}>
      {parts.join(', ')}
    </Badge>
  );
}
