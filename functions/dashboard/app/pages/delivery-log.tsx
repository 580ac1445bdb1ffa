import { DELIVERY_STATUSES } from '../../../../lib/delivery/schedule.ts';
import { type Delivery, serverNow, type Webhook } from '../api.ts';
import { Button, Panel } from '../components/basics.tsx';
import { DeliveryBadge, type DeliveryStatus, outcomeText } from '../components/deliveries.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Select } from '../components/field.tsx';
import { type Column, Pager, Table } from '../components/table.tsx';
import { Countdown, Time } from '../components/time.tsx';
import { useLoaded, useRepeated } from '../hooks.ts';
import { goTo, linkTo } from '../router.ts';
import { useSession } from '../session.ts';

const PAGE = 25;
const REFRESH_MS = 5000;
const SPANS = [
  ['', 'Any time'],
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const;

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
export function DeliveryLog({ webhook, query, version, onChange }: LogProps) {
  const { call, environment } = useSession();
  const { id } = webhook;
  const status = query.get('status') ?? '';
  const hours = query.get('hours') ?? '';
  const since = query.get('since') ?? '';
  const cursor = query.get('cursor') ?? '';
  const at = (change: Record<string, string>) =>
    linkTo(environment, ['webhooks', id], { status, hours, since, ...change });
  const loaded = useLoaded(
    `${id} ${status} ${since} ${cursor}`,
    () =>
      call('GET /v1/webhooks/{id}/deliveries', {
        path: { id },
        query: {
          limit: String(PAGE),
          status: status ? (status as DeliveryStatus) : undefined,
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
          options={[['', 'All'], ...DELIVERY_STATUSES.map((each) => [each, each] as const)]}
          onChange={(chosen) => goTo(at({ status: chosen }))}
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
                {status || since || cursor
                  ? 'No deliveries match these filters.'
                  : 'No deliveries yet. Send a test event or change a document.'}
              </Empty>
            ) : (
              <LogTable deliveries={data} />
            )}
            <Pager cursor={cursor} next={next_cursor} at={at} />
          </>
        )}
      </Await>
    </Panel>
  );
}

function LogTable({ deliveries }: { deliveries: Delivery[] }) {
  const { environment } = useSession();
  const columns: Column<Delivery>[] = [
    [
      'Event',
      ({ webhook_id, event_id, event_type }) => (
        <>
          <a href={linkTo(environment, ['webhooks', webhook_id, 'deliveries', event_id])}>{event_type}</a>
          <small>
            <code>{event_id}</code>
          </small>
        </>
      ),
    ],
    [
      'Status',
      ({ status, next_attempt_at }) => (
        <>
          <DeliveryBadge status={status} />
          {status === 'retrying' && next_attempt_at && (
            <small>
              next attempt in <Countdown to={next_attempt_at} over="a moment" />
            </small>
          )}
        </>
      ),
    ],
    ['Attempts', ({ attempts }) => attempts.length],
    ['Last response', ({ attempts }) => <LastResponse of={attempts.at(-1)} />],
    ['Created', ({ created_at }) => <Time at={created_at} />],
  ];
  return <Table caption="Deliveries" columns={columns} rows={deliveries} keyOf={({ event_id }) => event_id} />;
}

const LastResponse = ({ of: attempt }: { of: Delivery['attempts'][number] | undefined }) =>
  attempt ? outcomeText(attempt) : <span class="muted">none</span>;
