import { Badge } from '../components/basics.tsx';
import type { Webhook } from '../state/api.ts';

type Backlog = Pick<Webhook, 'undelivered' | 'undelivered_paused' | 'retrying'>;

/** How many deliveries an endpoint misses now, without those that a person chose to pause. */
export const missedBy = ({ undelivered, undelivered_paused }: Backlog): number =>
  Math.max(0, undelivered - undelivered_paused);

/** The number of missed deliveries, which is a warning above zero. */
export function Missed({ count }: { count: number }) {
  if (count === 0) return <span>0</span>;
  return (
    <Badge tone="waiting" icon="warning">
      {count.toLocaleString()}
    </Badge>
  );
}

/** The key figure of what webhooks have not received now. A recovery or a retry lowers it. */
export function UndeliveredNow({ of: webhooks }: { of: readonly Backlog[] }) {
  const sum = (countOf: (backlog: Backlog) => number) => webhooks.reduce((total, each) => total + countOf(each), 0);
  const [paused, retrying] = [sum(({ undelivered_paused }) => undelivered_paused), sum((each) => each.retrying)];
  const others = [
    ...(paused > 0 ? [`${paused.toLocaleString()} while paused`] : []),
    ...(retrying > 0 ? [`${retrying.toLocaleString()} retrying`] : []),
  ];
  return (
    <div title="Deliveries of the last 30 days that failed, were canceled or were skipped, and have not been sent again.">
      <dt>Undelivered now</dt>
      <dd>
        <Missed count={sum(missedBy)} /> <small>{['deliveries', ...others].join(', ')}</small>
      </dd>
    </div>
  );
}
