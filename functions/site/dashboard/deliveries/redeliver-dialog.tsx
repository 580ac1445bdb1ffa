import { BatchDialog } from '../components/batch-dialog.tsx';
import type { Delivery } from '../state/api.ts';
import { useSession } from '../state/session.ts';

interface Props {
  of: readonly Delivery[];
  nameOf: (delivery: Delivery) => string;
  onCancel: () => void;
  onDone: () => void;
}

/** Redelivers deliveries. */
export function RedeliverDialog({ of: deliveries, ...others }: Props) {
  const { call } = useSession();
  const all = deliveries.length === 1 ? '1 delivery' : `${deliveries.length} deliveries`;
  return (
    <BatchDialog
      rows={deliveries}
      keyOf={({ event_id }) => event_id}
      act={({ webhook_id: id, event_id }) =>
        call('POST /v1/webhooks/{id}/deliveries/{event_id}/redeliver', { path: { id, event_id } })
      }
      title={`Redeliver ${all}?`}
      action="Redeliver"
      titles={['Redelivering…', 'Redelivery']}
      doneText={(count) => `${count} of ${all} queued.`}
      {...others}
    >
      <p>
        Each event is sent again to this webhook, on the full retry schedule
        {deliveries.some(({ test }) => test) && ', except test events, which are not retried'}.
      </p>
    </BatchDialog>
  );
}
