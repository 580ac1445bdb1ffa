import { isUnderWay } from '../../../../lib/deliveries/retry-schedule.ts';
import { Badge, Link } from '../components/basics.tsx';
import { DocumentLink } from '../components/document-link.tsx';
import { type Column, Table } from '../components/table.tsx';
import { ShortTime } from '../components/time.tsx';
import { type Delivery, type EntryOf, serverNow } from '../state/api.ts';
import { useRepeated } from '../state/hooks.ts';
import { useRead } from '../state/session.ts';

export interface EventRow {
  id: string;
  type: string;
  documentKey: unknown;
  revision?: unknown;
  at: string;
}

export const rowOf = ({ id, type, data, timestamp }: EntryOf<'GET /v1/events'>): EventRow => ({
  id,
  type,
  documentKey: data['document_key'],
  revision: data['revision'],
  at: timestamp,
});

/** Lists events with their documents and, if they are known, revisions. With `isOfOne`, all events belong to one document. */
export function EventTable({ rows, isOfOne = false }: { rows: EventRow[]; isOfOne?: boolean }) {
  const columns: Column<EventRow>[] = [
    [
      'Event',
      ({ id, type }) => (
        <Link to={['events', id]} title={id}>
          {type}
        </Link>
      ),
    ],
    ...(isOfOne ? [] : [DOCUMENT]),
    ['Deliveries', (row) => <EventOutcome of={row} />],
    ...(rows.some(({ revision }) => revision !== undefined) ? [REVISION] : []),
    ['Time', ({ at }) => <ShortTime at={at} />, 'number'],
  ];
  return <Table caption="Events" columns={columns} rows={rows} keyOf={({ id }) => id} isDense />;
}

const DOCUMENT: Column<EventRow> = ['Document', ({ documentKey }) => <DocumentLink to={documentKey} />, 'wide'];

const REVISION: Column<EventRow> = [
  'Revision',
  ({ revision }) => (typeof revision === 'number' ? revision : '–'),
  'number',
];

const REFRESH_MS = 5000;
/** The deliveries of a new event are missing or pending at first. */
const NEW_MS = 60_000;

/** How many of the webhooks that an event was sent to have accepted it. */
function EventOutcome({ of: { id, at } }: { of: EventRow }) {
  const loaded = useRead('GET /v1/events/{id}/deliveries', { path: { id }, query: { limit: '100' } });
  const { value } = loaded;
  const isOpen = !value?.data.length || value.data.some(({ status }) => isUnderWay(status));
  const isNew = serverNow() - Date.parse(at) < NEW_MS;
  const { status = 200 } = loaded.problem ?? {};
  const isUnavailable = status === 0 || status === 429 || status >= 500;
  useRepeated(isUnavailable || (isOpen && isNew) ? REFRESH_MS : null, loaded);
  if (!value)
    return (
      <span class="muted" aria-busy="true">
        …
      </span>
    );
  const data = value.data.filter(({ status }) => status !== 'skipped');
  const skipped = value.data.length - data.length;
  if (data.length === 0) return <span class="muted">{skipped === 0 ? 'none' : `${skipped} skipped`}</span>;
  const delivered = data.filter(({ status }) => status === 'succeeded').length;
  const has = (isIt: (status: Delivery['status']) => boolean) => data.some(({ status }) => isIt(status));
  const isFailed = has((status) => status === 'failed');
  const tone = delivered === data.length ? 'good' : isFailed ? 'bad' : has(isUnderWay) ? 'waiting' : 'off';
  return (
    <span title={skipped > 0 ? `${skipped} skipped, because their webhooks were disabled or overloaded` : undefined}>
      <Badge tone={tone}>
        {delivered} of {data.length} delivered
      </Badge>
    </span>
  );
}
