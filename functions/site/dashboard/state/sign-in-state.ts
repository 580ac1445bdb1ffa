import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { forgetDrafts } from './hooks.ts';
import { joinTabs, signOutOtherTabs } from './other-tabs.ts';
import { endedKeys, endKeys, forgetKeys, rememberedKey, rememberKey, watchKeys } from './remembered-key.ts';
import { keyIdOf } from './session.ts';

const SIGNED_OUT = 'You are signed out.';
const KEY_ENDED = 'You were signed out because this key was revoked or has expired.';
const UNUSED = 'You were signed out because you did not use this tab for 30 minutes.';
const NOTICES = { idle: UNUSED, 'signed-out': SIGNED_OUT };

export interface SignInState {
  /** The key of this tab. A new tab takes it from another tab of the browser, and signing out ends all of them. */
  key: string | null;
  /** Why the user is signed out. */
  notice: string | undefined;
  signIn(key: string): void;
  signOut(): void;
  /** The service no longer accepts a key. */
  onUnauthorized(key: string): void;
}

export function useSignInState(): SignInState {
  const [{ key, notice }, setState] = useState(initialState);
  const lastKeyId = useRef(keyIdOf(key ?? ''));
  const signIn = useCallback((entered: string) => {
    const keyId = keyIdOf(entered);
    if (rememberedKey() === null && keyId !== lastKeyId.current) forgetDrafts(); // otherwise a new key after a rotation
    lastKeyId.current = keyId;
    rememberKey(entered);
    setState({ key: entered, notice: undefined });
  }, []);
  const leave = useCallback((why: string) => {
    forgetKeys();
    setState((last) => (last.key === null ? last : { key: null, notice: why }));
  }, []);
  // The user signed out, here or in another tab.
  const end = useCallback(() => {
    forgetDrafts();
    leave(SIGNED_OUT);
  }, [leave]);
  useEffect(() => watchKeys((end) => leave(NOTICES[end])), [leave]);
  const wasSignedOut = notice !== undefined;
  useEffect(() => joinTabs({ asksForKey: !wasSignedOut, onKey: signIn, onSignOut: end }), [wasSignedOut, signIn, end]);
  const signOut = useCallback(() => {
    endKeys();
    signOutOtherTabs();
    end();
  }, [end]);
  const onUnauthorized = useCallback(
    (ended: string) => {
      if (rememberedKey() === ended) leave(KEY_ENDED); // otherwise a late response for a replaced key
    },
    [leave],
  );
  return { key, notice, signIn, signOut, onUnauthorized };
}

function initialState(): Pick<SignInState, 'key' | 'notice'> {
  const end = endedKeys();
  return { key: rememberedKey(), notice: end && NOTICES[end] };
}
