import { isUnderWay } from '../../../../lib/delivery/schedule.ts';
import { type Delivery, type Result, serverNow } from '../api.ts';
import { Button, Facts, PageTitle, Panel } from '../components/basics.tsx';
import { DeliveryBadge, isSuccess, MEANINGS, outcomeText } from '../components/deliveries.tsx';
import { Await, Empty, ProblemNote } from '../components/feedback.tsx';
import { Json, visible } from '../components/json.tsx';
import { Time } from '../components/time.tsx';
import { useLoaded, useRepeated, useSending } from '../hooks.ts';
import { linkTo } from '../router.ts';
import { useSession } from '../session.ts';
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
                  <DeliveryPart of={found} occurredAt={occurred.timestamp} onChange={delivery.reload} />
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

function DeliveryPart({
  of: delivery,
  occurredAt,
  onChange,
}: {
  of: Delivery;
  occurredAt: string;
  onChange: () => void;
}) {
  return (
    <>
      <Panel>
        <Facts>
          {[
            [
              'Status',
              <>
                <DeliveryBadge status={delivery.status} /> {MEANINGS[delivery.status]}
              </>,
            ],
            ['Event', <code key="event">{delivery.event_id}</code>],
            ['Event time', <Time key="occurred" at={occurredAt} />],
          ]}
        </Facts>
        <Redeliver of={delivery} onChange={onChange} />
      </Panel>
      <Panel title="Schedule">
        <Timeline of={delivery} />
      </Panel>
      <Panel title="Attempts">
        <Attempts of={delivery} />
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

function Attempts({ of: { attempts } }: { of: Delivery }) {
  if (attempts.length === 0) return <p class="muted">No attempts yet.</p>;
  return (
    <ol class="attempts">
      {attempts.map((attempt, i) => (
        <li key={i}>
          <header>
            <strong>Attempt {attempt.number}</strong> <Time at={attempt.at} />
            <span class={isSuccess(attempt) ? 'outcome good' : 'outcome bad'}>{outcomeText(attempt)}</span>
            <span class="muted">{attempt.duration_ms.toLocaleString()} ms</span>
          </header>
          {attempt.response_excerpt !== null && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            <section class="scroll" tabIndex={0} aria-label={`Response to attempt ${attempt.number}`}>
              <pre dir="ltr">{visible(attempt.response_excerpt)}</pre>
            </section>
          )}
        </li>
      ))}
    </ol>
  );
}
