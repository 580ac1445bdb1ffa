import { Facts, Link, PageTitle, Panel } from '../components/basics.tsx';
import { Id } from '../components/copyable.tsx';
import { OUTCOME_COLUMNS } from '../components/deliveries.tsx';
import { DocumentLink } from '../components/document-link.tsx';
import { Await, Empty, ItemPage } from '../components/feedback.tsx';
import { type Column, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { DeliveryDrawer, type DeliveryList, openingOf } from '../deliveries/delivery-drawer.tsx';
import type { Delivery, Webhook } from '../state/api.ts';
import { useRepeated } from '../state/hooks.ts';
import { linkTo } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';
import { useWebhooks } from '../webhooks/all-webhooks.ts';
import { descriptionText, webhookName } from '../webhooks/webhook-text.ts';
import { Payload } from './payload.tsx';

const REFRESH_MS = 3000;

/** An event with its deliveries to all webhooks. `open` is the webhook whose delivery is open. */
export function EventPage({ id, open }: { id: string; open: string }) {
  const { environment } = useSession();
  const webhooks = useWebhooks();
  const event = useRead('GET /v1/events/{id}', { path: { id } });
  const deliveries = useRead('GET /v1/events/{id}/deliveries', { path: { id }, query: { limit: '100' } });
  const list: DeliveryList = { open, at: (delivery) => linkTo(environment, ['events', id], { delivery }) };
  useRepeated(event.problem ? null : REFRESH_MS, deliveries);
  return (
    <>
      <ItemPage section="events" title="Events" of={event}>
        {(occurred) => (
          <>
            <PageTitle>{occurred.type}</PageTitle>
            <Panel>
              <Facts>
                {[
                  ['Document', <DocumentLink key="document" to={occurred.data['document_key']} />],
                  ['Event time', <Time key="time" at={occurred.timestamp} />],
                  ['ID', <Id key="id" of={occurred.id} />],
                ]}
              </Facts>
            </Panel>
            <Panel title="Deliveries">
              <Await of={deliveries}>
                {({ data }) =>
                  data.length === 0 ? (
                    <Empty>No webhook was subscribed to this event.</Empty>
                  ) : (
                    <Table
                      caption="Deliveries"
                      columns={columnsOf(webhooks)}
                      rows={data}
                      keyOf={keyOf}
                      isDense
                      opening={openingOf(list)}
                    />
                  )
                }
              </Await>
            </Panel>
            <Payload of={occurred} />
          </>
        )}
      </ItemPage>
      {open && (
        <DeliveryDrawer
          webhookId={open}
          eventId={id}
          list={list}
          keys={deliveries.value?.data.map(keyOf) ?? []}
          onChange={deliveries.reload}
        />
      )}
    </>
  );
}

const keyOf = ({ webhook_id }: Delivery): string => webhook_id;

const columnsOf = (webhooks: ReadonlyMap<string, Webhook>): Column<Delivery>[] => [
  [
    'Webhook',
    ({ webhook_id, event_id, url }) => {
      const webhook = webhooks.get(webhook_id);
      return (
        <>
          <Link to={['webhooks', webhook_id, 'deliveries', event_id]} title={url ?? webhook_id}>
            {webhook ? webhookName(webhook) : (url ?? <code>{webhook_id}</code>)}
          </Link>
          {descriptionText(webhook) && <small>{url ?? webhook?.url}</small>}
        </>
      );
    },
    'wide',
  ],
  ...OUTCOME_COLUMNS,
];
