import { useState } from 'preact/hooks';
import { Button, ButtonLink } from '../components/basics.tsx';
import { ProblemNote } from '../components/feedback.tsx';
import type { Delivery, Webhook } from '../state/api.ts';
import { useSending } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';

export const REDELIVER = 'POST /v1/webhooks/{id}/deliveries/{event_id}/redeliver';
const RECOVER = 'POST /v1/webhooks/{id}/recover';

interface RepairProps {
  of: Delivery;
  /** `undefined` until it is loaded, and if it is deleted. */
  webhook: Webhook | undefined;
  onChange: () => void;
}

/** What sends a delivery again: a redelivery, or the recovery of a disabled webhook, which redelivers nothing. */
export function Repair({ of: delivery, webhook, onChange }: RepairProps) {
  const { can } = useSession();
  if (!webhook || !can(webhook.status === 'enabled' ? REDELIVER : RECOVER)) return null;
  if (webhook.status === 'enabled') return <Redeliver of={delivery} onChange={onChange} />;
  return (
    <div class="actions">
      <ButtonLink to={['webhooks', webhook.id]} query={{ recover: '1' }} kind="primary">
        Enable and recover
      </ButtonLink>
    </div>
  );
}

function Redeliver({ of: { webhook_id, event_id }, onChange }: { of: Delivery; onChange: () => void }) {
  const { call } = useSession();
  const [isQueued, setQueued] = useState(false);
  const sending = useSending(() => call(REDELIVER, { path: { id: webhook_id, event_id } }));
  const redeliver = async () => {
    const isSent = await sending.send();
    setQueued(Boolean(isSent));
    if (isSent) onChange();
  };
  return (
    <>
      <ProblemNote problem={sending.problem} />
      <div class="actions">
        <Button onClick={redeliver} busy={sending.busy}>
          Redeliver
        </Button>
        {/* Not announced at the edge of the page: a drawer covers that. */}
        <output class="muted">{isQueued && 'Redelivery queued.'}</output>
      </div>
    </>
  );
}
