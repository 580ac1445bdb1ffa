import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { LinkEnd } from '../links/link-ended.tsx';
import { serverNow } from './api.ts';
import { forgetDrafts } from './hooks.ts';
import { identityOf, type LinkContent } from './identity.ts';
import type { OpenedLink } from './opened-link.ts';
import { joinTabs, signOutOtherTabs } from './other-tabs.ts';
import { endedKeys, endKeys, forgetKeys, rememberedKey, rememberKey, watchKeys } from './remembered-key.ts';

const SIGNED_OUT = 'You are signed out.';
const KEY_ENDED = 'You were signed out because this key was revoked or has expired.';
const UNUSED = 'You were signed out because you did not use this tab for 30 minutes.';
/** Why a sign-in has ended, for a user with a key. */
const NOTICES = { idle: UNUSED, 'signed-out': SIGNED_OUT, unauthorized: KEY_ENDED };
type SignInEnd = keyof typeof NOTICES;

/** The same for a person with a link, who usually has no key. */
function linkEndOf({ expiresAt }: LinkContent, end: SignInEnd): LinkEnd {
  if (end !== 'unauthorized') return end;
  return Date.parse(expiresAt) <= serverNow() ? 'expired' : 'ended';
}

export interface SignInState {
  /** The key or the dashboard session of this tab. A new tab takes it from another tab of the browser, and signing out ends all of them. */
  key: string | null;
  /** Why the user is signed out. */
  notice: string | undefined;
  /** Why the link of the user does not work. */
  linkEnd: LinkEnd | undefined;
  signIn(key: string): void;
  signOut(): void;
  /** Continues without the link. */
  dismissLink(): void;
  /** The service no longer accepts a key. */
  onUnauthorized(key: string): void;
}

export function useSignInState(opened: OpenedLink | undefined): SignInState {
  const [{ key, notice, linkEnd }, setState] = useState(() => initialState(opened));
  const lastKeyId = useRef(identityOf(key ?? '').keyId);
  const signIn = useCallback((entered: string) => {
    const { keyId } = identityOf(entered);
    if (rememberedKey() === null && keyId !== lastKeyId.current) forgetDrafts(); // otherwise a new key after a rotation
    lastKeyId.current = keyId;
    rememberKey(entered);
    setState({ key: entered, notice: undefined, linkEnd: undefined });
  }, []);
  const leave = useCallback((end: SignInEnd) => {
    forgetKeys();
    setState((last) => {
      if (last.key === null) return last;
      const { link } = identityOf(last.key);
      return { key: null, notice: NOTICES[end], linkEnd: link && linkEndOf(link, end) };
    });
  }, []);
  // The user signed out, here or in another tab.
  const end = useCallback(() => {
    forgetDrafts();
    leave('signed-out');
  }, [leave]);
  useEffect(() => watchKeys(leave), [leave]);
  const wasSignedOut = notice !== undefined;
  useEffect(() => joinTabs({ asksForKey: !wasSignedOut, onKey: signIn, onSignOut: end }), [wasSignedOut, signIn, end]);
  const signOut = useCallback(() => {
    endKeys();
    signOutOtherTabs();
    end();
  }, [end]);
  const onUnauthorized = useCallback(
    (ended: string) => {
      if (rememberedKey() === ended) leave('unauthorized'); // otherwise a late response for a replaced key
    },
    [leave],
  );
  const dismissLink = useCallback(() => setState((last) => ({ ...last, linkEnd: undefined })), []);
  return { key, notice, linkEnd, signIn, signOut, dismissLink, onUnauthorized };
}

function initialState(opened: OpenedLink | undefined): Pick<SignInState, 'key' | 'notice' | 'linkEnd'> {
  const end = endedKeys();
  const linkEnd = opened?.isIncomplete ? ('incomplete' as const) : undefined;
  return { key: rememberedKey(), notice: end && NOTICES[end], linkEnd };
}
