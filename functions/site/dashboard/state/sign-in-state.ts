import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { forgetDrafts } from './hooks.ts';
import { joinTabs, signOutOtherTabs } from './other-tabs.ts';
import { forgetKey, isIdle, noteUse, rememberedKey, rememberKey } from './remembered-key.ts';
import { keyIdOf } from './session.ts';

const SIGNED_OUT = 'You are signed out.';
const KEY_ENDED = 'You were signed out because this key was revoked or has expired.';
const UNUSED = 'You were signed out because you did not use this tab for 30 minutes.';

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
    forgetKey();
    setState({ key: null, notice: why });
  }, []);
  // The user signed out, here or in another tab.
  const end = useCallback(() => {
    forgetDrafts();
    if (rememberedKey() !== null) leave(SIGNED_OUT);
  }, [leave]);
  useEffect(() => (key === null ? undefined : watchUse(() => leave(UNUSED))), [key, leave]);
  const wasSignedOut = notice !== undefined;
  useEffect(() => joinTabs({ asksForKey: !wasSignedOut, onKey: signIn, onSignOut: end }), [wasSignedOut, signIn, end]);
  const signOut = useCallback(() => {
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
  if (!isIdle()) return { key: rememberedKey(), notice: undefined };
  forgetKey();
  return { key: null, notice: UNUSED };
}

const USES = ['pointerdown', 'keydown', 'wheel'] as const;
const CHECK_INTERVAL_MS = 10_000;

/** Calls `onIdle` when the user has not used this tab for `IDLE_MS`. Automatic requests of the page do not count as use. */
function watchUse(onIdle: () => void): () => void {
  const check = () => {
    if (isIdle()) onIdle();
  };
  const use = () => {
    if (isIdle())
      onIdle(); // after the machine was asleep
    else noteUse();
  };
  noteUse();
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  for (const name of USES) addEventListener(name, use, { capture: true, passive: true });
  return () => {
    clearInterval(timer);
    for (const name of USES) removeEventListener(name, use, { capture: true });
  };
}
