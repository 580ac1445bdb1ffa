import { ActionForm } from '../components/action-form.tsx';
import { Badge, Button, Link } from '../components/basics.tsx';
import { adviceOn, type DeliveryStatus, outcomeText } from '../components/deliveries.tsx';
import { Dialog, Done } from '../components/dialog.tsx';
import { Time } from '../components/time.tsx';
import type { Recovery, Webhook } from '../state/api.ts';
import { useRead, useSession } from '../state/session.ts';

interface ResultProps {
  of: Pick<Webhook, 'id' | 'status'>;
  /** The recovery, once it is loaded. */
  recovery: Recovery | undefined;
  onClose: () => void;
}

/** Shows how many deliveries of a recovery were sent and how they ended, with a button that stops it. */
export function RecoveryDialog({ of: webhook, recovery, onClose }: ResultProps) {
  const { call } = useSession();
  const results = (
    <>
      <RecoveryResult of={webhook} recovery={recovery} onLeave={onClose} />
      <p class="muted">
        {recovery?.ended_at ? (
          <>
            The recovery ended on <Time at={recovery.ended_at} />.
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
        act={() => call('DELETE /v1/webhooks/{id}/recover', { path: { id: webhook.id } })}
        announcement="Recovery stopped."
        onDone={onClose}
        others={<Button onClick={onClose}>Close</Button>}
      >
        {results}
      </ActionForm>
    </Dialog>
  );
}

/** What the endpoint received of a recovery. If deliveries failed, their last response and a link to them. */
function RecoveryResult({ of: webhook, recovery, onLeave }: Omit<ResultProps, 'onClose'> & { onLeave: () => void }) {
  const counts = recovery ?? NOTHING;
  const isComplete = counts.sent > 0 && counts.delivered === counts.sent;
  const tone = counts.failed > 0 ? 'bad' : isComplete ? 'good' : 'waiting';
  return (
    <>
      <p>
        <output>
          <Badge tone={tone}>{resultText(counts)}</Badge>
        </output>
      </p>
      {counts.failed > 0 && <Failures of={webhook} count={counts.failed} onLeave={onLeave} />}
    </>
  );
}

/** The statuses after a failed attempt. */
const FAILING: DeliveryStatus[] = ['retrying', 'failed'];

interface FailuresProps extends Pick<ResultProps, 'of'> {
  count: number;
  onLeave: () => void;
}

function Failures({ of: { id, status }, count, onLeave }: FailuresProps) {
  const query = { status: FAILING, limit: '1' };
  const latest = useRead('GET /v1/webhooks/{id}/deliveries', { path: { id }, query }, count);
  const attempt = latest.value?.data[0]?.attempts.at(-1);
  return (
    <p>
      {attempt && (
        <>
          {attempt.status_code === null ? 'The last attempt failed:' : 'The endpoint returned'}{' '}
          <strong>{outcomeText(attempt)}</strong>. {adviceOn(attempt)}{' '}
        </>
      )}
      {status === 'enabled' ? 'Failed deliveries are retried on schedule.' : 'The webhook is disabled.'}{' '}
      <Link to={['webhooks', id]} query={{ status: 'undelivered' }} onClick={onLeave}>
        View the failed deliveries
      </Link>
    </p>
  );
}

type Counts = Pick<Recovery, 'sent' | 'delivered' | 'failed'>;
const NOTHING: Counts = { sent: 0, delivered: 0, failed: 0 };

/** The result for the endpoint, such as `39 sent: 0 delivered, 39 failed`. */
export function resultText({ sent, delivered, failed }: Counts): string {
  const rest = Math.max(0, sent - delivered - failed); // the counts are not of one moment
  const parts = [
    `${delivered.toLocaleString()} delivered`,
    `${failed.toLocaleString()} failed`,
    ...(rest > 0 ? [`${rest.toLocaleString()} without an attempt yet`] : []),
  ];
  return `${sent.toLocaleString()} sent: ${parts.join(', ')}`;
}
