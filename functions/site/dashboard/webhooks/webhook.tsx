import { useState } from 'preact/hooks';
import { Button, PageTitle } from '../components/basics.tsx';
import { CopyButton } from '../components/copyable.tsx';
import { ItemPage, ProblemNote } from '../components/feedback.tsx';
import { DeliveryLog } from '../deliveries/delivery-log.tsx';
import type { Webhook } from '../state/api.ts';
import { useRepeated, useSending } from '../state/hooks.ts';
import { linkTo, replaceBy } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';
import { Health } from './health.tsx';
import { RecoverDialog } from './recover-dialog.tsx';
import { Skipped } from './skipped.tsx';
import { Disabled, Failing } from './trouble.tsx';
import { TestDialog } from './webhook-dialogs.tsx';
import { WebhookSettings } from './webhook-settings.tsx';
import { descriptionText, webhookName } from './webhook-text.ts';

const REFRESH_MS = 5000;
/** Parameters that open something over the page. */
const NOT_SEARCH: ReadonlySet<string> = new Set(['recover', 'delivery']);

interface PageProps {
  id: string;
  /** `settings`, or else the deliveries. */
  tab: string | undefined;
  query: URLSearchParams;
}

export function WebhookPage({ id, tab, query }: PageProps) {
  const { environment, can } = useSession();
  const [version, setVersion] = useState(0);
  const [isRecovering, setRecovering] = useState(query.get('recover') === '1');
  const loaded = useRead('GET /v1/webhooks/{id}', { path: { id } }, version);
  const reload = () => setVersion((last) => last + 1);
  useRepeated(REFRESH_MS, loaded);
  const isSearch = [...query.keys()].some((name) => !NOT_SEARCH.has(name)); // then the log comes first
  const health = (of: Webhook) => <Health key="health" of={of} version={version} />;
  const log = (of: Webhook) => <DeliveryLog key="log" webhook={of} query={query} version={version} onChange={reload} />;
  return (
    <ItemPage section="webhooks" title="Webhooks" of={loaded}>
      {(webhook) => (
        <>
          <PageTitle
            subtitle={<Address of={webhook} />}
            actions={
              can('PATCH /v1/webhooks/{id}') && (
                <WebhookActions of={webhook} onRecover={() => setRecovering(true)} onChange={reload} />
              )
            }
          >
            {webhookName(webhook)}
          </PageTitle>
          <nav class="tabs" aria-label="Webhook">
            <a href={linkTo(environment, ['webhooks', id])} aria-current={tab === 'settings' ? undefined : 'page'}>
              Deliveries
            </a>
            <a
              href={linkTo(environment, ['webhooks', id, 'settings'])}
              aria-current={tab === 'settings' ? 'page' : undefined}
            >
              Settings
            </a>
          </nav>
          {tab === 'settings' ? (
            <WebhookSettings of={webhook} onChange={reload} />
          ) : (
            <>
              {webhook.status === 'enabled' && webhook.max_per_second !== null && (
                <Skipped of={webhook} version={version} onRecover={() => setRecovering(true)} />
              )}
              {webhook.status === 'disabled' && <Disabled of={webhook} onRecover={() => setRecovering(true)} />}
              {webhook.status === 'enabled' && webhook.failing_since !== null && (
                <Failing of={webhook} version={version} />
              )}
              {isSearch ? [log(webhook), health(webhook)] : [health(webhook), log(webhook)]}
            </>
          )}
          {/* Here it stays while the webhook is enabled, with what it is asked for. */}
          {isRecovering && can('POST /v1/webhooks/{id}/recover') && (
            <RecoverDialog
              of={webhook}
              onClose={() => {
                setRecovering(false);
                reload();
                // A reload does not open it again.
                replaceBy(linkTo(environment, ['webhooks', id, ...(tab ? [tab] : [])], withoutRecovery(query)));
              }}
            />
          )}
        </>
      )}
    </ItemPage>
  );
}

const withoutRecovery = (query: URLSearchParams) =>
  Object.fromEntries([...query].filter(([name]) => name !== 'recover'));

/** The endpoint URL, which is the heading of a webhook without a description. */
function Address({ of: webhook }: { of: Webhook }) {
  const { url } = webhook;
  return (
    <>
      {descriptionText(webhook) && <span>{url}</span>} <CopyButton text={url} label="Copy the endpoint URL" />
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
