import { EVENT_TYPES } from '../../../../lib/events/types.ts';
import { PERIODS, readActivity, type Summary, successRate } from '../activity.ts';
import type { Webhook } from '../api.ts';
import { Badge, ButtonLink, PageTitle } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { type Column, Table } from '../components/table.tsx';
import { useLoaded } from '../hooks.ts';
import { linkTo } from '../router.ts';
import { useSession } from '../session.ts';
import { latencyText } from './overview.tsx';

export function WebhookStatus({ of: { status, disabled_reason } }: { of: Webhook }) {
  if (status === 'enabled') return <Badge tone="good">enabled</Badge>;
  return disabled_reason === 'paused' ? <Badge tone="off">paused</Badge> : <Badge tone="bad">disabled</Badge>;
}

export function Webhooks() {
  const { call, environment } = useSession();
  const loaded = useLoaded(environment, () => readActivity(call, PERIODS['24 hours']));
  const create = (
    <ButtonLink href={linkTo(environment, ['webhooks', 'new'])} kind="primary">
      Create Webhook
    </ButtonLink>
  );
  const columns = (figures: ReadonlyMap<string, Summary>): Column<Webhook>[] => [
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
    ['Delivered, 24 h', ({ id }) => (figures.get(id)?.counts.delivered ?? 0).toLocaleString()],
    ['Succeeded', ({ id }) => rateOf(figures.get(id))],
    ['p95', ({ id }) => latencyText(figures.get(id)?.p95 ?? null)],
  ];
  return (
    <>
      <PageTitle actions={create}>Webhooks</PageTitle>
      <Await of={loaded}>
        {({ webhooks, byWebhook }) =>
          webhooks.length === 0 ? (
            <Empty action={create}>
              No webhooks yet. A webhook sends signed events to your server as they occur, and retries deliveries that
              fail.
            </Empty>
          ) : (
            <Table caption="Webhooks" columns={columns(byWebhook)} rows={webhooks} keyOf={({ id }) => id} />
          )
        }
      </Await>
    </>
  );
}

const rateOf = (summary: Summary | undefined): string => (summary ? successRate(summary) : '–');
