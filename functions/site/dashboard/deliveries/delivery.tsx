import { isUnderWay } from '../../../../lib/deliveries/retry-schedule.ts';
import { type Fact, Facts, Link, PageTitle, Panel } from '../components/basics.tsx';
import { DeliveryBadge, isSuccess } from '../components/deliveries.tsx';
import { meaningOf } from '../components/delivery-text.ts';
import { DocumentLink } from '../components/document-link.tsx';
import { Await, Empty, ProblemTitle } from '../components/feedback.tsx';
import { Time, TimeOr } from '../components/time.tsx';
import { Payload } from '../events/payload.tsx';
import { type Delivery, type ResponseOf, type Result, serverNow, type Webhook } from '../state/api.ts';
import { type Loaded, useLoaded, useRepeated } from '../state/hooks.ts';
import { useRead, useSession } from '../state/session.ts';
import { webhookName } from '../webhooks/webhook-text.ts';
import { Attempts } from './attempts.tsx';
import { Repair } from './repair.tsx';
import { Timeline } from './timeline.tsx';

const REFRESH_MS = 2000;
/** After this time, an event without a delivery was not sent to this webhook. */
const FIRST_ATTEMPT_MS = 60_000;

export function DeliveryPage({ webhookId, eventId }: { webhookId: string; eventId: string }) {
  const loaded = useDelivery(webhookId, eventId);
  const { value: webhook } = loaded.webhook;
  return (
    <>
      <p class="up">
        <Link to={['webhooks', webhookId]}>{webhook ? webhookName(webhook) : 'Webhook'}</Link>
        {loaded.event.value && (
          <>
            {' · '}
            <Link to={['events', eventId]}>Event, with all its deliveries</Link>
          </>
        )}
      </p>
      {loaded.event.value && <PageTitle>{loaded.event.value.type}</PageTitle>}
      {loaded.event.problem && <ProblemTitle of={loaded.event.problem} />}
      <DeliveryContent of={loaded} />
    </>
  );
}

type Event = ResponseOf<'GET /v1/events/{id}'>;

interface LoadedDelivery {
  event: Loaded<Event>;
  webhook: Loaded<Webhook>;
  /** `null` until the first attempt is recorded. */
  delivery: Loaded<Delivery | null>;
  /** Whether the first attempt may still come. */
  isAwaited: boolean;
}

/** A delivery with its event. Reloads while the delivery can change. */
export function useDelivery(webhookId: string, eventId: string): LoadedDelivery {
  const { call } = useSession();
  const event = useRead('GET /v1/events/{id}', { path: { id: eventId } });
  const webhook = useRead('GET /v1/webhooks/{id}', { path: { id: webhookId } });
  const delivery = useLoaded(`${webhookId} ${eventId}`, async (): Promise<Result<Delivery | null>> => {
    const path = { id: webhookId, event_id: eventId };
    const result = await call('GET /v1/webhooks/{id}/deliveries/{event_id}', { path });
    return result.problem?.code === 'not_found' ? { value: null } : result;
  });
  const isAwaited = serverNow() - Date.parse(event.value?.timestamp ?? '') < FIRST_ATTEMPT_MS;
  const isMoving = delivery.value ? isUnderWay(delivery.value.status) : isAwaited;
  useRepeated(isMoving ? REFRESH_MS : null, delivery);
  return { event, webhook, delivery, isAwaited };
}

interface ContentProps {
  of: LoadedDelivery;
  onChange?: () => void;
}

/** The requests and responses of a delivery, on its page and in the drawer of a list. */
export function DeliveryContent({ of: { event, webhook, delivery, isAwaited }, onChange }: ContentProps) {
  const changed = () => {
    delivery.reload();
    onChange?.();
  };
  return (
    <Await of={event}>
      {(occurred) => (
        <>
          <Await of={delivery}>
            {(found) => (
              <>
                <Panel>
                  <Facts>{factsOf(occurred, webhook, found)}</Facts>
                  {found && <Repair of={found} webhook={webhook.value} onChange={changed} />}
                </Panel>
                {found && <Runs of={found} event={occurred} />}
                {!found && <Undelivered webhook={webhook} isAwaited={isAwaited} />}
              </>
            )}
          </Await>
          {/* After what stands above it, so that nothing moves. */}
          {(delivery.value !== undefined || delivery.problem) && <Payload of={occurred} />}
        </>
      )}
    </Await>
  );
}

const isDeleted = ({ problem }: Loaded<Webhook>): boolean => problem?.status === 404;

/** The webhook comes first, because an event has a delivery to each of them. */
const factsOf = (event: Event, webhook: Loaded<Webhook>, delivery: Delivery | null): Fact[] => [
  ['Webhook', <WebhookName key="webhook" of={webhook} />],
  ...(delivery ? [['Status', <Status key="status" of={delivery} />] satisfies Fact] : []),
  ...(delivery?.test ? [['Test', 'A sample event'] satisfies Fact] : []),
  ['Document', <DocumentLink key="document" to={event.data['document_key']} />],
  [
    'Event',
    <Link key="event" to={['events', event.id]}>
      <code>{event.id}</code>
    </Link>,
  ],
  ['Event time', <Time key="occurred" at={event.timestamp} />],
  ...(delivery
    ? [['Last attempt', <TimeOr key="last" at={delivery.last_attempt_at} none="none" />] satisfies Fact]
    : []),
  ...(delivery?.url ? [['Endpoint', delivery.url] satisfies Fact] : []),
];

const Status = ({ of: delivery }: { of: Delivery }) => (
  <>
    <DeliveryBadge of={delivery} /> {meaningOf(delivery)}
  </>
);

function WebhookName({ of: webhook }: { of: Loaded<Webhook> }) {
  const { value } = webhook;
  if (!value) return <>{isDeleted(webhook) ? 'Deleted' : '…'}</>;
  return (
    <>
      <Link to={['webhooks', value.id]}>{webhookName(value)}</Link> <code>{value.id}</code>
    </>
  );
}

/** Why there is no delivery. */
function Undelivered({ webhook, isAwaited }: { webhook: Loaded<Webhook>; isAwaited: boolean }) {
  if (isDeleted(webhook)) return <Empty>The webhook was deleted, and its deliveries with it.</Empty>;
  if (!isAwaited) return <Empty>This event was not sent to this webhook.</Empty>;
  return (
    <output class="loading">
      <progress aria-label="Waiting for the first attempt" /> Waiting for the first attempt…
    </output>
  );
}

/** The schedule and the attempts of a delivery. */
function Runs({ of: delivery, event }: { of: Delivery; event: Event }) {
  const { status, attempts, test } = delivery;
  // A delivery that succeeds immediately has no retries, and neither has a test event.
  const isScheduled = !test && (isUnderWay(status) || attempts.some((attempt) => !isSuccess(attempt)));
  return (
    <>
      {isScheduled && (
        <Panel title="Schedule">
          <Timeline of={delivery} />
        </Panel>
      )}
      <Panel title="Attempts">
        <Attempts of={delivery} event={event} />
      </Panel>
    </>
  );
}
