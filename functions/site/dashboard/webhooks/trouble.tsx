import { RETRY_DELAYS_SECONDS } from '../../../../lib/deliveries/retry-schedule.ts';
import { Button, Link } from '../components/basics.tsx';
import { adviceOn, latestRun, outcomeText } from '../components/deliveries.tsx';
import { Callout } from '../components/feedback.tsx';
import { Elapsed, Time } from '../components/time.tsx';
import type { Delivery, Webhook } from '../state/api.ts';
import { useRepeated } from '../state/hooks.ts';
import { useRead, useSession } from '../state/session.ts';

const DELIVERIES = 'GET /v1/webhooks/{id}/deliveries';
const REFRESH_MS = 30_000;

/** The statuses of deliveries whose last attempt can have failed. Directly after an outage, none is retrying. */
export const AFTER_FAILURE = ['retrying', 'failed', 'canceled'] as const;

interface FailingProps {
  of: Webhook;
  /** Changes when the deliveries may have changed. */
  version: number;
}

/** Shows why an enabled webhook is failing, and when the service would disable it. */
export function Failing({ of: { id, failing_since, disabled_at }, version }: FailingProps) {
  const retrying = (query: { until?: string | undefined; limit: string }) =>
    ({ path: { id }, query: { ...query, status: 'retrying' } }) as const;
  const newest = useRead(DELIVERIES, { path: { id }, query: { status: [...AFTER_FAILURE], limit: '10' } }, version);
  // The delivery that failed first reaches its sixth failure first. If the webhook was disabled in this outage, it is the oldest one
  // that is retrying, because the earlier ones were canceled.
  const until = disabled_at === null ? (failing_since ?? undefined) : undefined;
  const limit = disabled_at === null ? '1' : '100';
  const oldest = useRead(DELIVERIES, retrying({ until, limit }), version);
  useRepeated(REFRESH_MS, newest, oldest);
  const isAll = disabled_at === null || oldest.value?.next_cursor === null;
  const first = isAll ? oldest.value?.data.at(-1) : undefined;
  const latest = newest.value?.data.find(({ attempts }) => attempts.length > 0);
  const last = latest?.attempts.at(-1);
  const disabledAt = first && disabledAtOf(first);
  return (
    <Callout kind="warning">
      <p>
        Failing for {failing_since && <Elapsed since={failing_since} />}
        {latest && last && (
          <>
            : the last attempt of <Link to={['webhooks', id, 'deliveries', latest.event_id]}>{latest.event_type}</Link>{' '}
            {last.status_code === null ? 'failed:' : 'returned'} <strong>{outcomeText(last)}</strong>
          </>
        )}
        . {last && adviceOn(last)}
      </p>
      {disabledAt && (
        <p>
          If every retry fails, the service disables this webhook on <Time at={disabledAt} />.
        </p>
      )}
    </Callout>
  );
}

/** The time of the sixth attempt of a delivery, if each attempt until then fails immediately. */
function disabledAtOf({ attempts, next_attempt_at }: Delivery): string | undefined {
  if (next_attempt_at === null) return undefined;
  const laterDelays = RETRY_DELAYS_SECONDS.slice(latestRun(attempts).length);
  const laterSeconds = laterDelays.reduce((sum: number, seconds) => sum + seconds, 0);
  return new Date(Date.parse(next_attempt_at) + laterSeconds * 1000).toISOString();
}

/** Shows why the webhook is disabled, with the failed delivery and a button to recover. */
export function Disabled({ of: webhook, onRecover }: { of: Webhook; onRecover: () => void }) {
  const { id, disabled_reason, disabled_at } = webhook;
  const isPaused = disabled_reason === 'paused';
  const { can } = useSession();
  const failed = useRead(DELIVERIES, { path: { id }, query: { status: 'failed', limit: '1' } });
  const [delivery] = failed.value?.data ?? [];
  const last = delivery?.attempts.at(-1);
  const since = disabled_at && <Time at={disabled_at} />;
  return (
    <Callout kind={isPaused ? 'warning' : 'error'}>
      <p>
        {isPaused ? (
          <>Paused since {since}. Events are recorded as skipped while the webhook is paused.</>
        ) : (
          <>
            Disabled since {since} because all six attempts of a delivery failed
            {delivery && last && (
              <>
                , the last one of{' '}
                <Link to={['webhooks', id, 'deliveries', delivery.event_id]}>{delivery.event_type}</Link> with{' '}
                <strong>{outcomeText(last)}</strong>
              </>
            )}
            . Fix your endpoint, then enable the webhook and recover what it missed.
          </>
        )}{' '}
        Missed events can be recovered for 30 days.
      </p>
      {can('POST /v1/webhooks/{id}/recover') && (
        <Button kind="primary" onClick={onRecover}>
          Enable and recover
        </Button>
      )}
    </Callout>
  );
}
