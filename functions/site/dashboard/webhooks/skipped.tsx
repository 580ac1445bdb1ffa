import { Button, Link } from '../components/basics.tsx';
import { Callout } from '../components/feedback.tsx';
import type { Webhook } from '../state/api.ts';
import { useRepeated } from '../state/hooks.ts';
import { useRead, useSession } from '../state/session.ts';

const REFRESH_MS = 30_000;

interface SkippedProps {
  of: Webhook;
  /** Changes when the deliveries may have changed. */
  version: number;
  onRecover: () => void;
}

/** Says that the rate limit of an enabled webhook was the last cause of a skipped delivery. */
export function Skipped({ of: { id, max_per_second }, version, onRecover }: SkippedProps) {
  const { can } = useSession();
  const options = { path: { id }, query: { status: 'skipped', limit: '1' } } as const;
  const skipped = useRead('GET /v1/webhooks/{id}/deliveries', options, version);
  useRepeated(REFRESH_MS, skipped);
  const [delivery] = skipped.value?.data ?? [];
  if (delivery?.reason !== 'rate_limited') return null;
  return (
    <Callout kind="warning">
      <p>
        Events arrive faster than the rate limit of {max_per_second} per second, so{' '}
        <Link to={['webhooks', id]} query={{ status: 'skipped' }}>
          deliveries were skipped
        </Link>
        . Raise the limit if your endpoint can take more requests. Skipped deliveries can be recovered for 30 days.
      </p>
      {can('POST /v1/webhooks/{id}/recover') && <Button onClick={onRecover}>Recover skipped deliveries</Button>}
    </Callout>
  );
}
