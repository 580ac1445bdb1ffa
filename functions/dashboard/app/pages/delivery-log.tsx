import { useState } from 'preact/hooks';
import { DELIVERY_STATUSES } from '../../../../lib/delivery/schedule.ts';
import { EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import { type Delivery, serverNow, type Webhook } from '../api.ts';
import { Button, Panel } from '../components/basics.tsx';
import { DeliveryBadge, type DeliveryStatus, LastDuration, LastResponse } from '../components/deliveries.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Select } from '../components/field.tsx';
import { type Column, Pager, Table } from '../components/table.tsx';
import { Countdown, ShortTime } from '../components/time.tsx';
import { useLoaded, useRepeated } from '../hooks.ts';
import { goTo, linkTo } from '../router.ts';
import { useSession } from '../session.ts';
import { RedeliverDialog } from './redeliver-dialog.tsx';

const PAGE = 25;
const REFRESH_MS = 5000;
const SPANS = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const;
const all = <Option extends string>(options: readonly Option[]) =>
  [['', 'All'], ...options.map((each) => [each, each] as const)] as const;

// The URL holds the resulting time: a cursor is valid only with the filters it came with.
const hoursAgo = (hours: string): string =>
  hours === '' ? '' : new Date(serverNow() - Number(hours) * 3_600_000).toISOString();

interface LogProps {
  webhook: Webhook;
  query: URLSearchParams;
  /** Changes when the log may have changed. */
  version: number;
  onChange: () => void;
}

/** The deliveries of a webhook, newest first. Filters and page are part of the URL. */
export function DeliveryLog({ webhook: { id }, query, version, onChange }: LogProps) {
  const { call, environment } = useSession();
  const given = (name: string) => query.get(name) ?? '';
  const [status, type] = [given('status'), given('type')];
  const [hours, since, cursor] = [given('hours'), given('since'), given('cursor')];
  const at = (change: Record<string, string>) =>
    linkTo(environment, ['webhooks', id], { status, type, hours, since, ...change });
  const place = `${id} ${status} ${type} ${since} ${cursor}`;
  const loaded = useLoaded(
    place,
    () =>
      call('GET /v1/webhooks/{id}/deliveries', {
        path: { id },
        query: {
          limit: String(PAGE),
          status: status ? (status as DeliveryStatus) : undefined,
          type: type ? (type as EventType) : undefined,
          since: since || undefined,
          cursor: cursor || undefined,
        },
      }),
    version,
  );
  useRepeated(cursor === '' ? REFRESH_MS : null, loaded.reload);
  return (
    <Panel title="Deliveries" actions={<Button onClick={onChange}>Refresh</Button>}>
      <div class="filters">
        <Select
          label="Status"
          value={status}
          options={all(DELIVERY_STATUSES)}
          onChange={(chosen) => goTo(at({ status: chosen }))}
        />
        <Select
          label="Type"
          value={type}
          options={all(EVENT_TYPES)}
          onChange={(chosen) => goTo(at({ type: chosen }))}
        />
        <Select
          label="Time"
          value={hours}
          options={SPANS}
          onChange={(chosen) => goTo(at({ hours: chosen, since: hoursAgo(chosen) }))}
        />
      </div>
      <Await of={loaded}>
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 ? (
              <Empty>
                {status || type || since || cursor
                  ? 'No deliveries match these filters.'
                  : 'No deliveries yet. Send a test event or change a document.'}
              </Empty>
            ) : (
              <LogTable key={place} deliveries={data} onChange={loaded.reload} />
            )}
            <Pager cursor={cursor} next={next_cursor} at={at} />
          </>
        )}
      </Await>
    </Panel>
  );
}

const nameOf = ({ event_type, event_id }: Delivery): string => `${event_type} ${event_id}`;

/** One line for each delivery; those that are chosen can be sent again together. */
function LogTable({ deliveries, onChange }: { deliveries: Delivery[]; onChange: () => void }) {
  const { environment } = useSession();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [sending, setSending] = useState<Delivery[]>();
  const columns: Column<Delivery>[] = [
    [
      'Event',
      ({ webhook_id, event_id, event_type, test }) => (
        <>
          <a href={linkTo(environment, ['webhooks', webhook_id, 'deliveries', event_id])} title={event_id}>
            {event_type}
          </a>
          {test && <small> test</small>}
        </>
      ),
    ],
    ['Document', ({ document_key }) => <DocumentKey of={document_key} />, 'wide'],
    [
      'Status',
      ({ status, next_attempt_at }) => (
        <>
          <DeliveryBadge status={status} />
          {status === 'retrying' && next_attempt_at && (
            <small>
              {' '}
              next in <Countdown to={next_attempt_at} over="a moment" />
            </small>
          )}
        </>
      ),
    ],
    ['Response', ({ attempts }) => <LastResponse of={attempts} />],
    ['Duration', ({ attempts }) => <LastDuration of={attempts.at(-1)} />, 'number'],
    ['Time', ({ created_at }) => <ShortTime at={created_at} />, 'number'],
  ];
  const rows = deliveries.filter(({ event_id }) => chosen.has(event_id));
  return (
    <>
      <div class="selection">
        <Button disabled={rows.length === 0} onClick={() => setSending(rows)}>
          Redeliver selected
        </Button>
        <span class="muted" aria-live="polite">
          {rows.length === 0 ? 'None selected' : `${rows.length} selected`}
        </span>
      </div>
      <Table
        caption="Deliveries"
        columns={columns}
        rows={deliveries}
        keyOf={({ event_id }) => event_id}
        isDense
        selection={{ chosen, onChange: setChosen, nameOf }}
      />
      {sending && (
        <RedeliverDialog
          of={sending}
          nameOf={nameOf}
          onClose={() => {
            setSending(undefined);
            setChosen(new Set());
            onChange();
          }}
        />
      )}
    </>
  );
}

function DocumentKey({ of: key }: { of: string | null }) {
  const { environment } = useSession();
  if (key === null) return <>–</>;
  return (
    <a href={linkTo(environment, ['documents', key])} title={key}>
      {key}
    </a>
  );
}
