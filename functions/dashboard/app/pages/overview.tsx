import { useState } from 'preact/hooks';
import { type Activity, readActivity } from '../activity.ts';
import { all, type Key } from '../api.ts';
import { ButtonLink, PageTitle, Panel } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Choices } from '../components/field.tsx';
import { Countdown, Time } from '../components/time.tsx';
import { useLoaded } from '../hooks.ts';
import { linkTo } from '../router.ts';
import { useSession } from '../session.ts';
import { Chart } from './chart.tsx';
import { nameOf } from './keys.tsx';

const SPANS = [
  ['24', '24 hours'],
  ['168', '7 days'],
] as const;

export function Overview() {
  const { call, environment } = useSession();
  const [hours, setHours] = useState<'24' | '168'>('24');
  const [progress, setProgress] = useState<[done: number, of: number]>([0, 0]);
  const loaded = useLoaded(`${environment} ${hours}`, () =>
    readActivity(call, Number(hours), (...reached) => setProgress(reached)),
  );
  const keys = useLoaded('keys', () => all(call, 'GET /v1/keys'));
  const [done, of] = progress;
  return (
    <>
      <PageTitle>Overview</PageTitle>
      <Panel title="Deliveries">
        <Choices
          legend="Period"
          type="radio"
          options={SPANS}
          chosen={[hours]}
          onChange={([chosen]) => chosen && setHours(chosen)}
        />
        {loaded.loading && of > 0 && (
          <p class="loading">
            <progress value={done} max={of} aria-label="Delivery logs loaded" /> {done} of {of} delivery logs loaded
          </p>
        )}
        <Await of={loaded}>
          {(activity) =>
            activity.webhooks.length === 0 ? (
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
              <Chart of={activity} hours={Number(hours)} />
            )
          }
        </Await>
      </Panel>
      <Panel title="Needs attention">
        <Await of={loaded}>
          {(activity) => <Await of={keys}>{(every) => <Attention activity={activity} keys={every} />}</Await>}
        </Await>
      </Panel>
    </>
  );
}

function Attention({ activity: { webhooks, retrying }, keys }: { activity: Activity; keys: Key[] }) {
  const { environment } = useSession();
  const disabled = webhooks.filter(({ disabled_reason }) => disabled_reason === 'deliveries_failed');
  const failing = webhooks.filter(({ id, status }) => status === 'enabled' && retrying.has(id));
  const expiring = keys.filter(({ status }) => status === 'expiring');
  if (disabled.length + failing.length + expiring.length === 0) return <p class="muted">Nothing needs attention.</p>;
  return (
    <ul class="attention">
      {disabled.map(({ id, url, disabled_at }) => (
        <li key={id} class="bad">
          <a href={linkTo(environment, ['webhooks', id])}>{url}</a> was disabled on{' '}
          {disabled_at && <Time at={disabled_at} />}. Fix your endpoint, enable the webhook, then recover missed
          deliveries.
        </li>
      ))}
      {failing.map(({ id, url }) => (
        <li key={id} class="waiting">
          <a href={linkTo(environment, ['webhooks', id], { status: 'retrying' })}>{url}</a>:{' '}
          {failingText(retrying.get(id) ?? 0)}
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

const failingText = (count: number): string =>
  count === 1
    ? '1 delivery is failing and will be retried.'
    : `${count.toLocaleString()} deliveries are failing and will be retried.`;
