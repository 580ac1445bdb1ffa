import { useState } from 'preact/hooks';
import { Button, PageTitle, Tabs } from '../components/basics.tsx';
import { CopyButton } from '../components/copyable.tsx';
import { outcomeText } from '../components/deliveries.tsx';
import { Await, Callout, ProblemNote } from '../components/feedback.tsx';
import { Time } from '../components/time.tsx';
import { DeliveryLog } from '../deliveries/delivery-log.tsx';
import type { Webhook } from '../state/api.ts';
import { useLoaded, useRepeated, useSending } from '../state/hooks.ts';
import { linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { Health } from './health.tsx';
import { Skipped } from './skipped.tsx';
import { RecoverDialog, TestDialog } from './webhook-dialogs.tsx';
import { WebhookSettings } from './webhook-settings.tsx';
import { webhookName } from './webhook-text.ts';

const REFRESH_MS = 5000;

interface PageProps {
  id: string;
  /** `settings`, or else the deliveries. */
  tab: string | undefined;
  query: URLSearchParams;
}

export function WebhookPage({ id, tab, query }: PageProps) {
  const { call, environment } = useSession();
  const [version, setVersion] = useState(0);
  const [isRecovering, setRecovering] = useState(query.get('recover') === '1');
  const loaded = useLoaded(id, () => call('GET /v1/webhooks/{id}', { path: { id } }), version);
  const reload = () => setVersion((last) => last + 1);
  useRepeated(REFRESH_MS, loaded.reload);
  return (
    <>
      <p class="up">
        <a href={linkTo(environment, ['webhooks'])}>Webhooks</a>
      </p>
      <Await of={loaded} isPage>
        {(webhook) => (
          <>
            <PageTitle
              subtitle={<Address of={webhook} />}
              actions={<WebhookActions of={webhook} onRecover={() => setRecovering(true)} onChange={reload} />}
            >
              {webhookName(webhook)}
            </PageTitle>
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
                {webhook.status === 'enabled' && webhook.max_per_second !== null && (
                  <Skipped of={webhook} version={version} onRecover={() => setRecovering(true)} />
                )}
                {webhook.status === 'disabled' && <Disabled of={webhook} onRecover={() => setRecovering(true)} />}
                <Health of={webhook} version={version} />
                <DeliveryLog webhook={webhook} query={query} version={version} onChange={reload} />
              </>
            )}
            {/* Here it stays while the webhook is enabled, with what it is asked for. */}
            {isRecovering && (
              <RecoverDialog
                of={webhook}
                onClose={() => {
                  setRecovering(false);
                  reload();
                }}
              />
            )}
          </>
        )}
      </Await>
    </>
  );
}

function Address({ of: { url } }: { of: Webhook }) {
  return (
    <>
      <span>{url}</span> <CopyButton text={url} label="Copy the endpoint URL" />
    </>
  );
}

interface PartProps {
  of: Webhook;
  onRecover: () => void;
}

function WebhookActions({ of: webhook, onRecover, onChange }: PartProps & { onChange: () => void }) {
  const { call, announce } = useSession();
  const [isTesting, setTesting] = useState(false);
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
  return (
    <>
      <ProblemNote problem={switching.problem} />
      <Button onClick={toggle} busy={switching.busy}>
        {isEnabled ? 'Pause' : 'Enable'}
      </Button>
      {isEnabled && <Button onClick={onRecover}>Recover</Button>}
      <Button kind={isEnabled ? 'primary' : 'plain'} onClick={() => setTesting(true)}>
        Send test event
      </Button>
      {isTesting && <TestDialog of={webhook} onClose={() => setTesting(false)} />}
    </>
  );
}

/** Shows why the webhook is disabled, with the failed delivery and a button to recover. */
function Disabled({ of: webhook, onRecover }: PartProps) {
  const { call, environment } = useSession();
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
      <Button kind="primary" onClick={onRecover}>
        Enable and recover
      </Button>
    </Callout>
  );
}
