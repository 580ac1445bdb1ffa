import { useState } from 'preact/hooks';
import type { Webhook } from '../api.ts';
import { Button, type Fact, Facts, PageTitle, Panel } from '../components/basics.tsx';
import { Await, Callout, ProblemNote } from '../components/feedback.tsx';
import { Time } from '../components/time.tsx';
import { useLoaded, useSending } from '../hooks.ts';
import { useSession } from '../session.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { DeleteDialog, RecoverDialog, RotateSecretDialog, TestDialog } from './webhook-dialogs.tsx';
import { EditWebhook } from './webhook-form.tsx';
import { WebhookStatus } from './webhooks.tsx';

export function WebhookPage({ id, query }: { id: string; query: URLSearchParams }) {
  const { call } = useSession();
  const [logVersion, setLogVersion] = useState(0);
  const loaded = useLoaded(id, () => call('GET /v1/webhooks/{id}', { path: { id } }));
  const reload = () => {
    loaded.reload();
    setLogVersion((last) => last + 1);
  };
  return (
    <Await of={loaded}>
      {(webhook) => (
        <>
          <PageTitle>{webhook.url}</PageTitle>
          <WebhookPart of={webhook} onChange={reload} />
          <DeliveryLog webhook={webhook} query={query} version={logVersion} onChange={reload} />
        </>
      )}
    </Await>
  );
}

type Asked = 'test' | 'edit' | 'rotate' | 'recover' | 'delete';

function WebhookPart({ of: webhook, onChange }: { of: Webhook; onChange: () => void }) {
  const { call, announce } = useSession();
  const [asked, setAsked] = useState<Asked>();
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
  const done = () => {
    close();
    onChange();
  };
  if (asked === 'edit') return <EditWebhook of={webhook} onDone={done} />;
  return (
    <>
      {!isEnabled && <Disabled of={webhook} />}
      <ProblemNote problem={switching.problem} />
      <div class="actions toolbar">
        {!isEnabled && (
          <Button kind="primary" onClick={() => setAsked('recover')}>
            Enable and recover
          </Button>
        )}
        <Button onClick={toggle} busy={switching.busy}>
          {isEnabled ? 'Pause' : 'Enable'}
        </Button>
        <Button onClick={() => setAsked('test')}>Send test event</Button>
        <Button onClick={() => setAsked('edit')}>Edit</Button>
        <Button onClick={() => setAsked('rotate')}>Rotate secret</Button>
        {isEnabled && <Button onClick={() => setAsked('recover')}>Recover</Button>}
        <Button kind="danger" onClick={() => setAsked('delete')}>
          Delete
        </Button>
      </div>
      <Panel>
        <Facts>
          {[
            ['Status', <WebhookStatus key="status" of={webhook} />],
            ['Description', webhook.description ?? '–'],
            ...(webhook.failing_since
              ? [['Failing since', <Time key="failing" at={webhook.failing_since} />] satisfies Fact]
              : []),
            [
              'Events',
              <ul key="events" class="tags">
                {webhook.events.map((type) => (
                  <li key={type}>
                    <code>{type}</code>
                  </li>
                ))}
              </ul>,
            ],
            ['Secret', webhook.secret_hint ? <code key="secret">…{webhook.secret_hint}</code> : 'set'],
            ['ID', <code key="id">{webhook.id}</code>],
            ['Created', <Time key="created" at={webhook.created_at} />],
            ['Updated', <Time key="updated" at={webhook.updated_at} />],
          ]}
        </Facts>
      </Panel>
      {asked === 'test' && <TestDialog of={webhook} onClose={close} />}
      {asked === 'rotate' && <RotateSecretDialog of={webhook} onClose={done} />}
      {asked === 'recover' && <RecoverDialog of={webhook} onClose={done} />}
      {asked === 'delete' && <DeleteDialog of={webhook} onClose={close} />}
    </>
  );
}

function Disabled({ of: { disabled_reason, disabled_at } }: { of: Webhook }) {
  const since = disabled_at && <Time at={disabled_at} />;
  return (
    <Callout kind="warning">
      {disabled_reason === 'paused' ? (
        <>Paused since {since}. Events are recorded as skipped while the webhook is paused.</>
      ) : (
        <>
          Disabled since {since} because all six attempts of a delivery failed. Fix your endpoint, then enable the
          webhook and recover what it missed.
        </>
      )}{' '}
      Missed events can be recovered for 30 days.
    </Callout>
  );
}
