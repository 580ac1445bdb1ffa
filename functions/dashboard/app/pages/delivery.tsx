import { isUnderWay } from '../../../../lib/delivery/schedule.ts';
import { type Delivery, type ResponseOf, type Result, serverNow } from '../api.ts';
import { Button, type Fact, Facts, PageTitle, Panel } from '../components/basics.tsx';
import { DeliveryBadge, isSuccess, MEANINGS } from '../components/deliveries.tsx';
import { Await, Empty, ProblemNote } from '../components/feedback.tsx';
import { Json } from '../components/json.tsx';
import { Time } from '../components/time.tsx';
import { useLoaded, useRepeated, useSending } from '../hooks.ts';
import { linkTo } from '../router.ts';
import { useSession } from '../session.ts';
import { Attempts } from './attempts.tsx';
import { DocumentLink } from './events.tsx';
import { Timeline } from './timeline.tsx';

const REFRESH_MS = 2000;
/** An event that has no delivery by then was not sent to this webhook. */
const FIRST_ATTEMPT_MS = 60_000;

export function DeliveryPage({ webhookId, eventId }: { webhookId: string; eventId: string }) {
  const { call, environment } = useSession();
  const event = useLoaded(eventId, () => call('GET /v1/events/{id}', { path: { id: eventId } }));
  // A delivery exists only once its first attempt is recorded: `null` until then.
  const delivery = useLoaded(`${webhookId} ${eventId}`, async (): Promise<Result<Delivery | null>> => {
    const path = { id: webhookId, event_id: eventId };
    const result = await call('GET /v1/webhooks/{id}/deliveries/{event_id}', { path });
    return result.problem?.code === 'not_found' ? { value: null } : result;
  });
  const isAwaited = serverNow() - Date.parse(event.value?.timestamp ?? '') < FIRST_ATTEMPT_MS;
  const isMoving = delivery.value ? isUnderWay(delivery.value.status) : isAwaited;
  useRepeated(isMoving && !delivery.problem ? REFRESH_MS : null, delivery.reload);
  return (
    <>
      <p class="up">
        <a href={linkTo(environment, ['webhooks', webhookId])}>Webhook</a> ·{' '}
        <a href={linkTo(environment, ['events', eventId])}>Event, with all its deliveries</a>
      </p>
      <Await of={event}>
        {(occurred) => (
          <>
            <PageTitle>{occurred.type}</PageTitle>
            <Await of={delivery}>
              {(found) =>
                found ? (
                  <DeliveryPart of={found} event={occurred} onChange={delivery.reload} />
                ) : !isAwaited ? (
                  <Empty>This event was not sent to this webhook.</Empty>
                ) : (
                  <output class="loading">
                    <progress aria-label="Waiting for the first attempt" /> Waiting for the first attempt…
                  </output>
                )
              }
            </Await>
            <Panel title="Payload">
              <Json value={occurred} label="Payload" />
            </Panel>
          </>
        )}
      </Await>
    </>
  );
}

interface PartProps {
  of: Delivery;
  event: ResponseOf<'GET /v1/events/{id}'>;
  onChange: () => void;
}

function DeliveryPart({ of: delivery, event, onChange }: PartProps) {
  const { status, attempts } = delivery;
  // What succeeds at once follows no schedule.
  const isScheduled = isUnderWay(status) || attempts.some((attempt) => !isSuccess(attempt));
  return (
    <>
      <Panel>
        <Facts>
          {[
            [
              'Status',
              <>
                <DeliveryBadge status={status} /> {MEANINGS[status]}
              </>,
            ],
            ...(delivery.test ? [['Test', 'A sample event, sent once'] satisfies Fact] : []),
            ['Document', <DocumentLink key="document" of={event.data} />],
            ['Event', <code key="event">{delivery.event_id}</code>],
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
  const { call, announce } = useSession();
  const sending = useSending(() =>
    call('POST /v1/webhooks/{id}/deliveries/{event_id}/redeliver', { path: { id: webhook_id, event_id } }),
  );
  const redeliver = async () => {
    if (!(await sending.send())) return;
    announce('Redelivery queued.');
    onChange();
  };
  return (
    <>
      <ProblemNote problem={sending.problem} />
      <div class="actions">
        <Button onClick={redeliver} busy={sending.busy}>
          Redeliver
        </Button>
      </div>
    </>
  );
}
