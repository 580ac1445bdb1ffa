import { EVENT_TYPES } from '../../../../lib/events/types.ts';
import { all, type Webhook } from '../api.ts';
import { Badge, ButtonLink, PageTitle } from '../components/basics.tsx';
import { Strip } from '../components/deliveries.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { type Column, Table } from '../components/table.tsx';
import { useLoaded } from '../hooks.ts';
import { linkTo } from '../router.ts';
import { useSession } from '../session.ts';

/** Number of deliveries shown per webhook. */
const STRIP_LENGTH = 20;

export function WebhookStatus({ of: { status, disabled_reason } }: { of: Webhook }) {
  if (status === 'enabled') return <Badge tone="good">enabled</Badge>;
  return disabled_reason === 'paused' ? <Badge tone="off">paused</Badge> : <Badge tone="bad">disabled</Badge>;
}

export function Webhooks() {
  const { call, environment } = useSession();
  const loaded = useLoaded(environment, () => all(call, 'GET /v1/webhooks'));
  const create = (
    <ButtonLink href={linkTo(environment, ['webhooks', 'new'])} kind="primary">
      Create Webhook
    </ButtonLink>
  );
  const columns: Column<Webhook>[] = [
    [
      'Endpoint',
      ({ id, url, description }) => (
        <>
          <a href={linkTo(environment, ['webhooks', id])}>{url}</a>
          {description && <small>{description}</small>}
        </>
      ),
    ],
    ['Status', (webhook) => <WebhookStatus of={webhook} />],
    [
      'Events',
      ({ events }) => (
        <span title={events.join(', ')}>
          {events.length} of {EVENT_TYPES.length}
        </span>
      ),
    ],
    ['Latest deliveries', ({ id }) => <LatestDeliveries id={id} />],
  ];
  return (
    <>
      <PageTitle actions={create}>Webhooks</PageTitle>
      <Await of={loaded}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty action={create}>
              No webhooks yet. A webhook sends signed events to your server as they occur, and retries deliveries that
              fail.
            </Empty>
          ) : (
            <Table caption="Webhooks" columns={columns} rows={webhooks} keyOf={({ id }) => id} />
          )
        }
      </Await>
    </>
  );
}

function LatestDeliveries({ id }: { id: string }) {
  const { call } = useSession();
  const loaded = useLoaded(id, () =>
    call('GET /v1/webhooks/{id}/deliveries', { path: { id }, query: { limit: String(STRIP_LENGTH) } }),
  );
  if (loaded.problem) return <span class="muted">unavailable</span>;
  return loaded.value ? <Strip deliveries={loaded.value.data} /> : <span class="muted">…</span>;
}
