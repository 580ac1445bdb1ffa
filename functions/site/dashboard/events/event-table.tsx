import { outcomeOf } from '../../../../lib/deliveries/outcome.ts';
import { isUnderWay } from '../../../../lib/deliveries/retry-schedule.ts';
import { Badge, Link } from '../components/basics.tsx';
import { DocumentLink } from '../components/document-link.tsx';
import { type Column, Table } from '../components/table.tsx';
import { ShortTime } from '../components/time.tsx';
import { type EntryOf, serverNow } from '../state/api.ts';
import { useRepeated } from '../state/hooks.ts';
import { useRead } from '../state/session.ts';

type Entry = EntryOf<'GET /v1/events'>;
type EventOutcome = NonNullable<Entry['outcome']>;

export interface EventRow {
  id: string;
  type: string;
  documentKey: unknown;
  revision?: unknown;
  at: string;
  /** If the list contains it. */
  outcome?: EventOutcome | undefined;
  /** The ids of webhooks that do not count for the outcome of a row without one. */
  uncounted?: ReadonlySet<string>;
}

export const rowOf = ({ id, type, data, timestamp, outcome }: Entry): EventRow => ({
  id,
  type,
  documentKey: data['document_key'],
  revision: data['revision'],
  at: timestamp,
  outcome,
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
    ['Deliveries', (row) => (row.outcome ? <Outcome of={row.outcome} /> : <ReadOutcome of={row} />)],
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

/** How often a list reads outcomes that are about to change. */
export const REFRESH_MS = 5000;
/** A delivery of a new event is pending for a moment. */
const NEW_MS = 60_000;
const isNew = (at: string): boolean => serverNow() - Date.parse(at) < NEW_MS;

/** Whether the outcome of an event of a list is about to change. */
export const isSettling = (events: readonly Entry[] = []): boolean =>
  events.some(({ outcome, timestamp }) => outcome !== undefined && outcome.pending > 0 && isNew(timestamp));

/** Who received an event. It is green only if every webhook that should have it received it. */
function Outcome({ of: { delivered, pending, undelivered } }: { of: EventOutcome }) {
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

/** The outcome of an event of a list that does not contain it. */
function ReadOutcome({ of: { id, at, uncounted } }: { of: EventRow }) {
  const loaded = useRead('GET /v1/events/{id}/deliveries', { path: { id }, query: { limit: '100' } });
  const { value } = loaded;
  const isOpen = value?.data.some(({ status }) => isUnderWay(status)) && isNew(at);
  const { status = 200 } = loaded.problem ?? {};
  const isUnavailable = status === 0 || status === 429 || status >= 500;
  useRepeated(isUnavailable || isOpen ? REFRESH_MS : null, loaded);
  if (!value)
    return (
      <span class="muted" aria-busy="true">
        …
      </span>
    );
  const counted = value.data.filter(({ webhook_id }) => !uncounted?.has(webhook_id));
  return <Outcome of={outcomeOf(counted.map(({ status }) => status))} />;
}
