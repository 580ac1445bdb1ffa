import { all, type Webhook } from '../api.ts';
import { useLoaded } from '../hooks.ts';
import { Await, Badge, ButtonLink, Empty, PageTitle } from '../parts/basics.tsx';
import { Strip } from '../parts/deliveries.tsx';
import { linkTo } from '../router.ts';
import { useSession } from '../session.ts';

/** Deliveries in the strip of a webhook. */
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
  return (
    <>
      <PageTitle actions={create}>Webhooks</PageTitle>
      <Await of={loaded}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty action={create}>
              Nothing is notified here yet. A webhook posts events to a server of yours as they happen, signed, and
              tries again when that server does not answer.
            </Empty>
          ) : (
            <table class="list">
              <caption class="visually-hidden">Webhooks</caption>
              <thead>
                <tr>
                  <th scope="col">Endpoint</th>
                  <th scope="col">Status</th>
                  <th scope="col">Events</th>
                  <th scope="col">Latest deliveries</th>
                </tr>
              </thead>
              <tbody>
                {webhooks.map((webhook) => (
                  <tr key={webhook.id}>
                    <th scope="row">
                      <a href={linkTo(environment, ['webhooks', webhook.id])}>{webhook.url}</a>
                      {webhook.description && <small>{webhook.description}</small>}
                    </th>
                    <td data-label="Status">
                      <WebhookStatus of={webhook} />
                    </td>
                    <td data-label="Events">
                      <span title={webhook.events.join(', ')}>{webhook.events.length} of 6</span>
                    </td>
                    <td data-label="Latest deliveries">
                      <LatestDeliveries id={webhook.id} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
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
  if (loaded.problem) return <span class="muted">not available</span>;
  return loaded.value ? <Strip deliveries={loaded.value.data} /> : <span class="muted">…</span>;
}
