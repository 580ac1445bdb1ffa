import { useRef, useState } from 'preact/hooks';
import { ActionForm } from '../components/action-form.tsx';
import { Button } from '../components/basics.tsx';
import { Confirm, Dialog, Done } from '../components/dialog.tsx';
import { Input } from '../components/field.tsx';
import { fromLocal, Time } from '../components/time.tsx';
import type { Recovery } from '../state/api.ts';
import { useForm, useRepeated } from '../state/hooks.ts';
import { useRead, useSession } from '../state/session.ts';
import type { DialogProps } from './webhook-dialogs.tsx';

const REFRESH_MS = 5000;

/**
 * Recovers missed deliveries, and enables the webhook first if it is disabled. While a recovery is running, it shows that one
 * instead.
 */
export function RecoverDialog({ of: { id, status }, onClose }: DialogProps) {
  const { call } = useSession();
  const { value, field } = useForm({ since: '', until: '' });
  const window = { since: fromLocal(value.since), until: fromLocal(value.until) };
  const read = useRead('GET /v1/webhooks/{id}/recover', { path: { id }, query: window });
  const [isDisabled] = useState(status === 'disabled'); // the initial status, because the request enables the webhook first
  const title = isDisabled ? 'Enable and recover' : 'Recover deliveries';
  const last = read.value?.recovery ?? undefined;
  const shown = useRef<string | undefined>(undefined); // stays after its end
  if (last?.ended_at === null) shown.current ??= last.recovery_id;
  useRepeated(shown.current ? REFRESH_MS : null, read);
  if (shown.current !== undefined) {
    const recovery = last?.recovery_id === shown.current ? last : undefined;
    return <RecoveryDialog of={id} recovery={recovery} onClose={onClose} />;
  }
  return (
    <Confirm
      title={title}
      action={isDisabled ? 'Enable and recover' : 'Recover'}
      act={() =>
        call('POST /v1/webhooks/{id}/recover', {
          path: { id },
          body: { ...window, ...(isDisabled && { enable: true }) },
        })
      }
      onDone={(recovery) => {
        shown.current = recovery.recovery_id;
        read.reload();
      }}
      onClose={onClose}
    >
      <p>
        Deliveries that failed, were canceled or were skipped are sent again, on the full retry schedule.{' '}
        <strong>
          {read.value && recoveredText(read.value.count)}
          {!read.value && (read.loading ? 'Counting…' : 'Their number is unknown.')}
        </strong>
      </p>
      <Input
        label="Since"
        hint="In your local time. Leave empty for everything since the endpoint began to fail."
        type="datetime-local"
        {...field('since')}
      />
      <Input
        label="Until"
        hint="Optional, in your local time. Leave empty to include everything until now."
        type="datetime-local"
        {...field('until')}
      />
    </Confirm>
  );
}

interface RecoveryProps {
  /** The id of the webhook. */
  of: string;
  /** The recovery, once it is loaded. */
  recovery: Recovery | undefined;
  onClose: () => void;
}

/** Shows how many deliveries of a recovery were sent and how they ended, with a button that stops it. */
function RecoveryDialog({ of: id, recovery, onClose }: RecoveryProps) {
  const { call } = useSession();
  const results = (
    <>
      <p>
        <output>{resultText(recovery)}</output>
      </p>
      <p class="muted">
        {recovery?.ended_at ? (
          <>
            The recovery ended on <Time at={recovery.ended_at} />. Deliveries that are neither delivered nor failed are
            retried on schedule.
          </>
        ) : (
          'The recovery starts after ten seconds, and continues when you close this dialog.'
        )}{' '}
        The numbers are at most a minute late.
      </p>
    </>
  );
  if (recovery?.ended_at)
    return (
      <Dialog title="Recovery" onClose={onClose}>
        {results}
        <Done onClose={onClose} />
      </Dialog>
    );
  return (
    <Dialog title="Recovery" onClose={onClose}>
      <ActionForm
        isDialog
        kind="danger"
        action="Stop recovery"
        act={() => call('DELETE /v1/webhooks/{id}/recover', { path: { id } })}
        announcement="Recovery stopped."
        onDone={onClose}
        others={<Button onClick={onClose}>Close</Button>}
      >
        {results}
      </ActionForm>
    </Dialog>
  );
}

function resultText({ sent, delivered, failed }: Pick<Recovery, 'sent' | 'delivered' | 'failed'> = NOTHING): string {
  const [all, good, bad] = [sent, delivered, failed].map((count) => count.toLocaleString());
  return `${all} sent again: ${good} delivered, ${bad} failed.`;
}
const NOTHING = { sent: 0, delivered: 0, failed: 0 };

function recoveredText(count: number): string {
  if (count === 0) return 'There is nothing to send again. Deliveries that are retrying follow their schedule.';
  if (count === 1) return '1 delivery will be sent again.';
  const least = count > EXACT_COUNT ? 'At least ' : '';
  return `${least}${count.toLocaleString()} deliveries will be sent again.`;
}
/** The service counts at least this many deliveries exactly. */
const EXACT_COUNT = 10_000;
