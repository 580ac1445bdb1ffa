import { useState } from 'preact/hooks';
import { ButtonLink, Facts, PageTitle, Panel } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Countdown, Elapsed } from '../components/time.tsx';
import { nameOf } from '../keys/keys.tsx';
import { all, type Key, type Webhook } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { Chart, PeriodChoice } from '../webhooks/chart.tsx';
import { PERIODS, type PeriodName, readStats, successRate } from '../webhooks/stats.ts';

const REFRESH_MS = 30_000;

export function Overview() {
  const { call, environment } = useSession();
  const [period, setPeriod] = useState<PeriodName>('24 hours');
  const webhooks = useLoaded(environment, () => all(call, 'GET /v1/webhooks'));
  const stats = useLoaded(`${environment} ${period}`, () => readStats(call, PERIODS[period]));
  const keys = useLoaded('keys', () => all(call, 'GET /v1/keys'));
  useRepeated(REFRESH_MS, () => {
    webhooks.reload();
    stats.reload();
  });
  return (
    <>
      <PageTitle>Overview</PageTitle>
      <Panel title="Needs attention">
        <Await of={webhooks}>
          {(found) => <Await of={keys}>{(every) => <Attention webhooks={found} keys={every} />}</Await>}
        </Await>
      </Panel>
      <Panel title="Deliveries" actions={<PeriodChoice chosen={period} onChange={setPeriod} />}>
        <Await of={webhooks}>
          {(found) =>
            found.length === 0 ? (
              <Empty
                action={
                  <ButtonLink href={linkTo(environment, ['webhooks', 'new'])} kind="primary">
                    Create Webhook
                  </ButtonLink>
                }
              >
                No webhooks yet. Create one to get notified when documents change.
              </Empty>
            ) : (
              <Await of={stats}>
                {(loaded) => (
                  <>
                    <Facts>
                      {[
                        ['Success rate', successRate(loaded.total)],
                        ['Failed attempts', loaded.total.attemptsFailed.toLocaleString()],
                        ['p50', latencyText(loaded.total.p50)],
                        ['p95', latencyText(loaded.total.p95)],
                      ]}
                    </Facts>
                    <Chart of={loaded} period={PERIODS[period]} />
                  </>
                )}
              </Await>
            )
          }
        </Await>
      </Panel>
    </>
  );
}

function Attention({ webhooks, keys }: { webhooks: Webhook[]; keys: Key[] }) {
  const { environment } = useSession();
  const disabled = webhooks.filter(({ disabled_reason }) => disabled_reason === 'deliveries_failed');
  const failing = webhooks.filter(({ status, failing_since }) => status === 'enabled' && failing_since !== null);
  const expiring = keys.filter(({ status }) => status === 'expiring');
  if (disabled.length + failing.length + expiring.length === 0) return <p class="muted">Nothing needs attention.</p>;
  return (
    <ul class="attention">
      {disabled.map(({ id, url, disabled_at }) => (
        <li key={id} class="bad">
          <a href={linkTo(environment, ['webhooks', id])}>{url}</a> was disabled{' '}
          {disabled_at && <Elapsed since={disabled_at} />} ago. Fix your endpoint, then enable the webhook and recover
          what it missed.
        </li>
      ))}
      {failing.map(({ id, url, failing_since }) => (
        <li key={id} class="waiting">
          <a href={linkTo(environment, ['webhooks', id], { status: 'retrying' })}>{url}</a> has been failing for{' '}
          {failing_since && <Elapsed since={failing_since} />}.
        </li>
      ))}
      {expiring.map((key) => (
        <li key={key.id} class="waiting">
          <a href={linkTo(environment, ['keys', key.id])}>{nameOf(key)}</a> expires in{' '}
          {key.expires_at && <Countdown to={key.expires_at} over="a moment" />}.
        </li>
      ))}
    </ul>
  );
}

/** Formats milliseconds for users. */
export const latencyText = (ms: number | null): string => (ms === null ? '–' : `${ms.toLocaleString()} ms`);
