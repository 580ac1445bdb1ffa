import { useState } from 'preact/hooks';
import { createLimiter } from '../../../../lib/limiter.ts';
import type { Delivery, Problem } from '../api.ts';
import { Confirm, Dialog, Done } from '../components/dialog.tsx';
import { problemText, useSession } from '../session.ts';

/** Requests at once: a new AWS account runs only 10 functions. */
const CONCURRENCY = 4;

interface Props {
  of: readonly Delivery[];
  nameOf: (delivery: Delivery) => string;
  onClose: () => void;
}

interface Failed {
  delivery: Delivery;
  problem: Problem;
}

/** Sends deliveries again, shows how far it is, and which of them were refused and why. */
export function RedeliverDialog({ of: deliveries, nameOf, onClose }: Props) {
  const { call } = useSession();
  const [count, setCount] = useState<number>();
  const [failed, setFailed] = useState<Failed[]>([]);
  const send = async () => {
    setCount(0);
    const limited = createLimiter(CONCURRENCY);
    const redeliver = async (delivery: Delivery) => {
      const path = { id: delivery.webhook_id, event_id: delivery.event_id };
      const { problem } = await call('POST /v1/webhooks/{id}/deliveries/{event_id}/redeliver', { path });
      if (problem) setFailed((others) => [...others, { delivery, problem }]);
      setCount((last = 0) => last + 1);
    };
    await Promise.all(deliveries.map((delivery) => limited(() => redeliver(delivery))));
  };
  const all = deliveries.length === 1 ? '1 delivery' : `${deliveries.length} deliveries`;
  if (count === undefined) {
    return (
      <Confirm title={`Redeliver ${all}?`} action="Redeliver" busy={false} onConfirm={send} onClose={onClose}>
        <p>Each event is sent again to this webhook, on the full retry schedule.</p>
      </Confirm>
    );
  }
  const isDone = count === deliveries.length;
  return (
    <Dialog title={isDone ? 'Redelivery' : 'Redelivering…'} onClose={onClose} isHeld={!isDone}>
      <progress aria-label="Redelivered" value={count} max={deliveries.length} />
      <p>
        <output>
          {isDone
            ? `${deliveries.length - failed.length} of ${all} queued.`
            : `${count} of ${deliveries.length} requested`}
        </output>
      </p>
      {failed.length > 0 && (
        <ul class="results">
          {failed.map(({ delivery, problem }) => (
            <li key={delivery.event_id}>
              <code>{nameOf(delivery)}</code> {problemText(problem)}
            </li>
          ))}
        </ul>
      )}
      {isDone && <Done onClose={onClose} />}
    </Dialog>
  );
}
