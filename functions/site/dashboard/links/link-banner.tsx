import type { Role } from '../../../../lib/credentials.ts';
import { printable } from '../../../../lib/printable.ts';
import { In } from '../components/time.tsx';
import { type LinkContent, ROLE_NAMES } from '../state/identity.ts';

const MEANINGS: Record<Role, string> = {
  viewer: 'You can read webhooks, deliveries, events and documents, and change nothing.',
  editor:
    'You can read webhooks, deliveries, events and documents, change webhooks, send tests, redeliver and recover.',
};

/** Says who is signed in with a link, what the link allows, and when it ends. */
export function LinkBanner({ of: link, replaced }: { of: LinkContent; replaced: string | undefined }) {
  const { role, environment, user, expiresAt } = link;
  return (
    <p class="link-banner">
      <strong>{ROLE_NAMES[role]}</strong> {user !== '' && <span class="who">{printable(user)} · </span>}
      {environment === 'live' ? 'Live' : 'Sandbox'} · {MEANINGS[role]} This access ends <In to={expiresAt} />.
      {replaced !== undefined && ` It replaced ${printable(replaced)} in this tab.`}
    </p>
  );
}
