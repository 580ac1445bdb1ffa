import { useRef, useState } from 'preact/hooks';
import { Confirm, Dialog, Done } from '../components/dialog.tsx';
import { Input } from '../components/field.tsx';
import { fromLocal } from '../components/time.tsx';
import { serverNow } from '../state/api.ts';
import { useForm, useLoaded, useRepeated } from '../state/hooks.ts';
import { useRead, useSession } from '../state/session.ts';
import type { DialogProps } from './webhook-dialogs.tsx';

/** Recovers missed deliveries, and enables the webhook first if it is disabled. */
export function RecoverDialog({ of: { id, status }, onClose }: DialogProps) {
  const { call } = useSession();
  const { value, field } = useForm({ since: '', until: '' });
  const [count, setCount] = useState<number>();
  const window = { since: fromLocal(value.since), until: fromLocal(value.until) };
  const counted = useRead('GET /v1/webhooks/{id}/recover', { path: { id }, query: window });
  const [isDisabled] = useState(status === 'disabled'); // the initial status, because the request enables the webhook first
  const title = isDisabled ? 'Enable and recover' : 'Recover deliveries';
  if (count !== undefined) {
    return (
      <Dialog title={title} onClose={onClose}>
        <RecoveryProgress of={id} count={count} window={window} />
        <Done onClose={onClose} />
      </Dialog>
    );
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
      onDone={(recovery) => setCount(recovery.count)}
      onClose={onClose}
    >
      <p>
        Deliveries that failed, were canceled or were skipped are sent again, on the full retry schedule.{' '}
        <strong>
          {counted.value && recoveredText(counted.value.count)}
          {!counted.value && (counted.loading ? 'Counting…' : 'Their number is unknown.')}
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

interface ProgressProps {
  /** The id of the webhook. */
  of: string;
  /** The deliveries to recover. */
  count: number;
  window: { since: string | undefined; until: string | undefined };
}

const PROGRESS_MS = 2000;
/** Before all deliveries. */
const EARLIEST = new Date(0).toISOString();

/**
 * Shows how many deliveries of a recovery were started, which is by how much the number of missed ones fell. Without a start of the
 * window, all times count, because the first success changes the default.
 */
function RecoveryProgress({ of: id, count, window }: ProgressProps) {
  const { call } = useSession();
  const [until] = useState(() => window.until ?? new Date(serverNow()).toISOString()); // later failures do not count
  const missed = useLoaded(id, () =>
    call('GET /v1/webhooks/{id}/recover', { path: { id }, query: { since: window.since ?? EARLIEST, until } }),
  );
  const most = useRef(count);
  most.current = Math.max(most.current, missed.value?.count ?? 0);
  const started = Math.min(count, most.current - (missed.value?.count ?? most.current));
  useRepeated(started < count ? PROGRESS_MS : null, missed);
  if (count === 0) return <p>{recoveredText(0)}</p>;
  return (
    <>
      <p>
        <output>{progressText(started, count)}</output>
      </p>
      <progress value={started} max={count} aria-label="Progress of the recovery" />
      <p class="muted">The recovery continues when you close this dialog.</p>
    </>
  );
}

function progressText(started: number, count: number): string {
  if (started === 0) return `${recoveredText(count)} The recovery starts in about ten seconds.`;
  if (started < count) return `${started.toLocaleString()} of ${count.toLocaleString()} deliveries were sent again.`;
  return count === 1 ? 'The delivery was sent again.' : `All ${count.toLocaleString()} deliveries were sent again.`;
}

function recoveredText(count: number): string {
  if (count === 0) return 'There is nothing to send again. Deliveries that are retrying follow their schedule.';
  return count === 1 ? '1 delivery will be sent again.' : `${count.toLocaleString()} deliveries will be sent again.`;
}
