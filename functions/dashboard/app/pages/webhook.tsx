import { useState } from 'preact/hooks';
import { PERIODS, readSummary, successRate } from '../activity.ts';
import type { Webhook } from '../api.ts';
import { Button, type Fact, Facts, PageTitle, Panel, Tabs } from '../components/basics.tsx';
import { outcomeText } from '../components/deliveries.tsx';
import { Await, Callout, ProblemNote } from '../components/feedback.tsx';
import { Time } from '../components/time.tsx';
import { useLoaded, useRepeated, useSending } from '../hooks.ts';
import { linkTo } from '../router.ts';
import { useSession } from '../session.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { latencyText } from './overview.tsx';
import { RecoverDialog, TestDialog } from './webhook-dialogs.tsx';
import { WebhookSettings } from './webhook-settings.tsx';
import { WebhookStatus } from './webhooks.tsx';

const REFRESH_MS = 5000;
const FIGURES_REFRESH_MS = 30_000;

interface PageProps {
  id: string;
  /** `settings`, or else the deliveries. */
  tab: string | undefined;
  query: URLSearchParams;
}

export function WebhookPage({ id, tab, query }: PageProps) {
  const { call, environment } = useSession();
  const [version, setVersion] = useState(0);
  const loaded = useLoaded(id, () => call('GET /v1/webhooks/{id}', { path: { id } }), version);
  const reload = () => setVersion((last) => last + 1);
  useRepeated(REFRESH_MS, loaded.reload);
  return (
    <>
      <p class="up">
        <a href={linkTo(environment, ['webhooks'])}>Webhooks</a>
      </p>
      <Await of={loaded}>
        {(webhook) => (
          <>
            <PageTitle actions={<WebhookActions of={webhook} onChange={reload} />}>{webhook.url}</PageTitle>
            {webhook.description && <p class="muted subtitle">{webhook.description}</p>}
            <Tabs
              label="Webhook"
              tabs={[
                ['Deliveries', linkTo(environment, ['webhooks', id]), tab !== 'settings'],
                ['Settings', linkTo(environment, ['webhooks', id, 'settings']), tab === 'settings'],
              ]}
            />
            {tab === 'settings' ? (
              <WebhookSettings of={webhook} onChange={reload} />
            ) : (
              <>
                {webhook.status === 'disabled' && <Disabled of={webhook} onChange={reload} />}
                <Health of={webhook} version={version} />
                <DeliveryLog webhook={webhook} query={query} version={version} onChange={reload} />
              </>
            )}
          </>
        )}
      </Await>
    </>
  );
}

interface PartProps {
  of: Webhook;
  onChange: () => void;
}

function WebhookActions({ of: webhook, onChange }: PartProps) {
  const { call, announce } = useSession();
  const [asked, setAsked] = useState<'test' | 'recover'>();
  const isEnabled = webhook.status === 'enabled';
  const switching = useSending(() =>
    call('PATCH /v1/webhooks/{id}', {
      path: { id: webhook.id },
      body: { status: isEnabled ? 'disabled' : 'enabled' },
    }),
  );
  const toggle = async () => {
    const changed = await switching.send();
    if (!changed) return;
    announce(changed.status === 'enabled' ? 'Webhook enabled.' : 'Webhook paused.');
    onChange();
  };
  const close = () => setAsked(undefined);
  return (
    <>
      <ProblemNote problem={switching.problem} />
      <Button onClick={toggle} busy={switching.busy}>
        {isEnabled ? 'Pause' : 'Enable'}
      </Button>
      {isEnabled && <Button onClick={() => setAsked('recover')}>Recover</Button>}
      <Button kind={isEnabled ? 'primary' : 'plain'} onClick={() => setAsked('test')}>
        Send test event
      </Button>
      {asked === 'test' && <TestDialog of={webhook} onClose={close} />}
      {asked === 'recover' && (
        <RecoverDialog
          of={webhook}
          onClose={() => {
            close();
            onChange();
          }}
        />
      )}
    </>
  );
}

/** Why no events are sent, the delivery at fault, and the way back. */
function Disabled({ of: webhook, onChange }: PartProps) {
  const { call, environment } = useSession();
  const [isAsked, setAsked] = useState(false);
  const { id, disabled_reason, disabled_at } = webhook;
  const isPaused = disabled_reason === 'paused';
  const failed = useLoaded(id, () =>
    call('GET /v1/webhooks/{id}/deliveries', { path: { id }, query: { status: 'failed', limit: '1' } }),
  );
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
                <a href={linkTo(environment, ['webhooks', id, 'deliveries', delivery.event_id])}>
                  {delivery.event_type}
                </a>{' '}
                with <strong>{outcomeText(last)}</strong>
              </>
            )}
            . Fix your endpoint, then enable the webhook and recover what it missed.
          </>
        )}{' '}
        Missed events can be recovered for 30 days.
      </p>
      <Button kind="primary" onClick={() => setAsked(true)}>
        Enable and recover
      </Button>
      {isAsked && (
        <RecoverDialog
          of={webhook}
          onClose={() => {
            setAsked(false);
            onChange();
          }}
        />
      )}
    </Callout>
  );
}

/** How deliveries went in the last 24 hours. */
function Health({ of: webhook, version }: { of: Webhook; version: number }) {
  const { call } = useSession();
  const { value, reload } = useLoaded(webhook.id, () => readSummary(call, webhook.id, PERIODS['24 hours']), version);
  useRepeated(FIGURES_REFRESH_MS, reload);
  return (
    <Panel>
      <Facts>
        {[
          ['Status', <WebhookStatus key="status" of={webhook} />],
          ...(webhook.failing_since
            ? [['Failing since', <Time key="failing" at={webhook.failing_since} />] satisfies Fact]
            : []),
          ['Delivered, 24 h', value ? value.counts.delivered.toLocaleString() : '–'],
          ['Success rate, 24 h', value ? successRate(value) : '–'],
          ['Failed attempts, 24 h', value ? value.attemptsFailed.toLocaleString() : '–'],
          ['p95 of the slowest hour', latencyText(value?.p95 ?? null)],
        ]}
      </Facts>
    </Panel>
  );
}
