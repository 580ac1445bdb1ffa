import { useState } from 'preact/hooks';
import { isUnderWay } from '../../../../lib/deliveries/retry-schedule.ts';
import { Button, type Fact, Facts, Link, PageTitle, Panel } from '../components/basics.tsx';
import { DeliveryBadge, isSuccess, MEANINGS } from '../components/deliveries.tsx';
import { DocumentLink } from '../components/document-link.tsx';
import { Await, Empty, ProblemNote, ProblemTitle } from '../components/feedback.tsx';
import { Time } from '../components/time.tsx';
import { Payload } from '../events/payload.tsx';
import { type Delivery, type ResponseOf, type Result, serverNow } from '../state/api.ts';
import { type Loaded, useLoaded, useRepeated, useSending } from '../state/hooks.ts';
import { useRead, useSession } from '../state/session.ts';
import { useWebhooks } from '../webhooks/all-webhooks.ts';
import { webhookName } from '../webhooks/webhook-text.ts';
import { Attempts } from './attempts.tsx';
import { Timeline } from './timeline.tsx';

const REFRESH_MS = 2000;
/** After this time, an event without a delivery was not sent to this webhook. */
const FIRST_ATTEMPT_MS = 60_000;

export function DeliveryPage({ webhookId, eventId }: { webhookId: string; eventId: string }) {
  const loaded = useDelivery(webhookId, eventId);
  const webhook = useWebhooks().get(webhookId);
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
  /** `null` until the first attempt is recorded. */
  delivery: Loaded<Delivery | null>;
  /** Whether the first attempt may still come. */
  isAwaited: boolean;
}

/** A delivery with its event. Reloads while the delivery can change. */
export function useDelivery(webhookId: string, eventId: string): LoadedDelivery {
  const { call } = useSession();
  const event = useRead('GET /v1/events/{id}', { path: { id: eventId } });
  const delivery = useLoaded(`${webhookId} ${eventId}`, async (): Promise<Result<Delivery | null>> => {
    const path = { id: webhookId, event_id: eventId };
    const result = await call('GET /v1/webhooks/{id}/deliveries/{event_id}', { path });
    return result.problem?.code === 'not_found' ? { value: null } : result;
  });
  const isAwaited = serverNow() - Date.parse(event.value?.timestamp ?? '') < FIRST_ATTEMPT_MS;
  const isMoving = delivery.value ? isUnderWay(delivery.value.status) : isAwaited;
  useRepeated(isMoving ? REFRESH_MS : null, delivery);
  return { event, delivery, isAwaited };
}

/** The requests and responses of a delivery, on its page and in the drawer of a list. */
export function DeliveryContent({
  of: { event, delivery, isAwaited },
  onChange,
}: {
  of: LoadedDelivery;
  onChange?: () => void;
}) {
  const changed = () => {
    delivery.reload();
    onChange?.();
  };
  return (
    <Await of={event}>
      {(occurred) => (
        <>
          <Await of={delivery}>
            {(found) =>
              found ? (
                <DeliveryPart of={found} event={occurred} onChange={changed} />
              ) : !isAwaited ? (
                <Empty>This event was not sent to this webhook.</Empty>
              ) : (
                <output class="loading">
                  <progress aria-label="Waiting for the first attempt" /> Waiting for the first attempt…
                </output>
              )
            }
          </Await>
          {/* After what stands above it, so that nothing moves. */}
          {(delivery.value !== undefined || delivery.problem) && <Payload of={occurred} />}
        </>
      )}
    </Await>
  );
}

interface PartProps {
  of: Delivery;
  event: Event;
  onChange: () => void;
}

function DeliveryPart({ of: delivery, event, onChange }: PartProps) {
  const { status, attempts, test } = delivery;
  // A delivery that succeeds immediately has no retries, and neither has a test event.
  const isScheduled = !test && (isUnderWay(status) || attempts.some((attempt) => !isSuccess(attempt)));
  return (
    <>
      <Panel>
        <Facts>
          {[
            [
              'Status',
              <>
                <DeliveryBadge status={status} />{' '}
                {test && status === 'failed' ? 'A test event is not retried.' : MEANINGS[status]}
              </>,
            ],
            ...(test ? [['Test', 'A sample event'] satisfies Fact] : []),
            ['Document', <DocumentLink key="document" to={event.data['document_key']} />],
            [
              'Event',
              <Link key="event" to={['events', delivery.event_id]}>
                <code>{delivery.event_id}</code>
              </Link>,
            ],
            ['Event time', <Time key="occurred" at={event.timestamp} />],
            ...(delivery.url ? [['Endpoint', delivery.url] satisfies Fact] : []),
          ]}
        </Facts>
        <Redeliver of={delivery} onChange={onChange} />
      </Panel>
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

function Redeliver({ of: { webhook_id, event_id }, onChange }: { of: Delivery; onChange: () => void }) {
  const { call } = useSession();
  const [isQueued, setQueued] = useState(false);
  const sending = useSending(() =>
    call('POST /v1/webhooks/{id}/deliveries/{event_id}/redeliver', { path: { id: webhook_id, event_id } }),
  );
  const redeliver = async () => {
    const isSent = await sending.send();
    setQueued(Boolean(isSent));
    if (isSent) onChange();
  };
  return (
    <>
      <ProblemNote problem={sending.problem} />
      <div class="actions">
        <Button onClick={redeliver} busy={sending.busy}>
          Redeliver
        </Button>
        {/* Not announced at the edge of the page: a drawer covers that. */}
        <output class="muted">{isQueued && 'Redelivery queued.'}</output>
      </div>
    </>
  );
}
