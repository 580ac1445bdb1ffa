import { useState } from 'preact/hooks';
import { Button, Facts, Panel } from '../components/basics.tsx';
import { Id } from '../components/copyable.tsx';
import { Time } from '../components/time.tsx';
import { LatestChanges } from '../settings/audit.tsx';
import type { Webhook } from '../state/api.ts';
import { useSession } from '../state/session.ts';
import { ShownSettings } from './shown-settings.tsx';
import { Verification } from './verification.tsx';
import { DeleteDialog, RotateSecretDialog } from './webhook-dialogs.tsx';
import { EditWebhook } from './webhook-form.tsx';

/** The settings of a webhook, and its deletion. */
export function WebhookSettings({ of: webhook, onChange }: { of: Webhook; onChange: () => void }) {
  const { can } = useSession();
  const [dialog, setDialog] = useState<'rotate' | 'delete'>();
  const close = () => setDialog(undefined);
  return (
    <>
      {can('PATCH /v1/webhooks/{id}') ? <EditWebhook of={webhook} onDone={onChange} /> : <ShownSettings of={webhook} />}
      <Panel
        title="Signing secret"
        actions={
          can('POST /v1/webhooks/{id}/rotate-secret') && (
            <Button onClick={() => setDialog('rotate')}>Rotate secret</Button>
          )
        }
      >
        <p class="muted">
          {webhook.secret_hint ? (
            <>
              Ends with <code>{webhook.secret_hint}</code>.
            </>
          ) : (
            'Set.'
          )}{' '}
          It cannot be shown again. After a rotation, both secrets sign for 24 hours.
        </p>
        <details>
          <summary>Verify signatures</summary>
          <Verification key={dialog} /> {/* another language may be chosen in the dialog */}
        </details>
      </Panel>
      <Panel title="Details">
        <Facts>
          {[
            ['ID', <Id key="id" of={webhook.id} />],
            ['Rate limit', webhook.max_per_second === null ? 'None' : `${webhook.max_per_second} requests per second`],
            ['Created', <Time key="created" at={webhook.created_at} />],
            ['Updated', <Time key="updated" at={webhook.updated_at} />],
          ]}
        </Facts>
      </Panel>
      {can('GET /v1/audit') && <LatestChanges of={webhook.id} version={Date.parse(webhook.updated_at)} />}
      {can('DELETE /v1/webhooks/{id}') && (
        <Panel
          title="Delete this webhook"
          actions={
            <Button kind="danger" onClick={() => setDialog('delete')}>
              Delete
            </Button>
          }
        >
          <p class="muted">
            Stops all deliveries, including pending retries. To stop them temporarily, pause the webhook.
          </p>
        </Panel>
      )}
      {dialog === 'rotate' && (
        <RotateSecretDialog
          of={webhook}
          onClose={() => {
            close();
            onChange();
          }}
        />
      )}
      {dialog === 'delete' && <DeleteDialog of={webhook} onClose={close} />}
    </>
  );
}
