import { Button, Link } from '../components/basics.tsx';
import { Callout } from '../components/feedback.tsx';
import type { Webhook } from '../state/api.ts';
import { useLoaded, useRepeated } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';

const REFRESH_MS = 30_000;

interface SkippedProps {
  of: Webhook;
  /** Changes when the stats may have changed. */
  version: number;
  onRecover: () => void;
}

/** Shows how many deliveries an enabled webhook with a rate limit skipped in the last 24 hours. */
export function Skipped({ of: { id, max_per_second }, version, onRecover }: SkippedProps) {
  const { call, can } = useSession();
  const read = () => call('GET /v1/stats', { query: { webhook_id: id, group_by: 'webhook_id' } });
  const stats = useLoaded(id, read, version);
  useRepeated(REFRESH_MS, stats);
  const count = stats.value?.data[0]?.skipped ?? 0;
  if (count === 0) return null;
  return (
    <Callout kind="warning">
      <p>
        <Link to={['webhooks', id]} query={{ status: 'skipped' }}>
          {count.toLocaleString()} {count === 1 ? 'delivery was' : 'deliveries were'} skipped
        </Link>{' '}
        in the last 24 hours, because the webhook was disabled, or because events arrive faster than its rate limit of{' '}
        {max_per_second} per second. Raise the limit if your endpoint can take more requests. Skipped deliveries can be
        recovered for 30 days.
      </p>
      {can('POST /v1/webhooks/{id}/recover') && <Button onClick={onRecover}>Recover skipped deliveries</Button>}
    </Callout>
  );
}
