import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../components/basics.tsx';

/** Why the user of a link is not signed in. */
export type LinkEnd = 'incomplete' | 'expired' | 'ended' | 'idle' | 'signed-out';

const TEXTS: Record<LinkEnd, [title: string, detail: string]> = {
  incomplete: [
    'This link is incomplete',
    'A part of the address is missing. Copy the whole link, or ask for a new one.',
  ],
  expired: [
    'This link has expired',
    'Ask for a new one, or open the dashboard again from the product that led you here.',
  ],
  ended: [
    'This link no longer works',
    'The key that created it was revoked or has expired. Ask for a new link, or open the dashboard again from the product that led you here.',
  ],
  idle: ['You are signed out', 'You did not use this tab for 30 minutes. Open the link again, or ask for a new one.'],
  'signed-out': ['You are signed out', 'Open the link again, or ask for a new one.'],
};

/** The page in place of the dashboard for a person whose link does not work, who usually has no key. */
export function LinkEnded({ why, onSignIn }: { why: LinkEnd; onSignIn: () => void }) {
  const [title, detail] = TEXTS[why];
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${title} · Dashboard`;
    heading.current?.focus();
  }, [title]);
  return (
    <main class="sign-in">
      <p class="brand">Document Sync Service</p>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <p>{detail}</p>
      <Button onClick={onSignIn}>Continue with a key</Button>
    </main>
  );
}
