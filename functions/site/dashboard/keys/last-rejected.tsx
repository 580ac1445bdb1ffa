import { HOUR_MS, HourOr } from '../components/time.tsx';
import type { Key } from '../state/api.ts';

type Rejected = Pick<Key, 'last_rejected' | 'revoked_at' | 'expires_at'>;

/** When and why the service last rejected a request with the key, one of its tokens or one of its dashboard links. */
export function LastRejected({ of: key }: { of: Rejected }) {
  return (
    <>
      <HourOr at={key.last_rejected?.at ?? null} none="never" />
      {key.last_rejected && `: ${causeOf(key, key.last_rejected)}`}
    </>
  );
}

/** A key that still worked in that hour was not the cause, so it was a token or a dashboard link. Only tokens can be revoked. */
function causeOf({ revoked_at, expires_at }: Rejected, { at, reason }: NonNullable<Key['last_rejected']>): string {
  const hasEnded = (end: string | null) => end !== null && Date.parse(end) < Date.parse(at) + HOUR_MS;
  switch (reason) {
    case 'revoked':
      return hasEnded(revoked_at) ? '401, the key is revoked' : '401, a token of this key is revoked';
    case 'expired':
      return hasEnded(expires_at)
        ? '401, the key has expired'
        : '401, a token or dashboard link of this key has expired';
    case 'ip_not_allowed':
      return '403, the allowlist did not contain the address';
    case 'suspended':
      return '403, the project was suspended';
  }
}
