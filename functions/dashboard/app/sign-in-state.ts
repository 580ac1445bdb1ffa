import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { forgetKey, rememberedKey, rememberKey, takeLinkedKey } from './session.ts';
import { joinTabs, type Tabs } from './tabs.ts';

export const SIGNED_OUT = 'You are signed out.';
const KEY_ENDED = 'You were signed out because this key was revoked or has expired.';

export interface SignInState {
  /** The key of this tab, `null` without one, `undefined` while other tabs are asked. */
  key: string | null | undefined;
  /** Why the user is signed out. */
  notice: string | undefined;
  signIn(key: string): void;
  /** In all tabs. */
  signOut(): void;
  /** The service no longer accepts a key. Other tabs may have another one, and find out about their own. */
  onUnauthorized(key: string): void;
}

export function useSignInState(): SignInState {
  const [key, setKey] = useState<string | null | undefined>(() => takeLinkedKey() ?? rememberedKey() ?? undefined);
  const [notice, setNotice] = useState<string>();
  const tabs = useRef<Tabs | null>(null);
  const signIn = useCallback((entered: string) => {
    tabs.current?.stopAsking();
    rememberKey(entered);
    setNotice(undefined);
    setKey(entered);
  }, []);
  const leave = useCallback((why: string) => {
    tabs.current?.stopAsking();
    forgetKey();
    setKey(null);
    setNotice(why);
  }, []);
  useLayoutEffect(() => {
    const { usedAt, stop } = noteUse();
    // By path: another stage of the same API is another service.
    const joined = joinTabs(new BroadcastChannel(`dashboard ${location.pathname}`), {
      key: rememberedKey,
      usedAt,
      onAnswer: (given) => (given === null ? setKey(null) : signIn(given)),
      onSignedOut: () => leave(SIGNED_OUT),
    });
    tabs.current = joined;
    if (rememberedKey() === null) joined.ask();
    return () => {
      joined.leave();
      stop();
    };
  }, [signIn, leave]);
  // The link that signs in can also be pasted into a tab that is here already.
  useLayoutEffect(() => {
    const follow = () => {
      const linked = takeLinkedKey();
      if (linked !== null) signIn(linked);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [signIn]);
  const signOut = useCallback(() => {
    tabs.current?.tellSignedOut();
    leave(SIGNED_OUT);
  }, [leave]);
  const onUnauthorized = useCallback(
    (ended: string) => {
      if (rememberedKey() === ended) leave(KEY_ENDED); // else a late response to a key that is replaced already
    },
    [leave],
  );
  return { key, notice, signIn, signOut, onUnauthorized };
}

/** Remembers when the user last pressed something in this tab. */
function noteUse() {
  let lastAt = 0;
  const note = () => {
    lastAt = Date.now();
  };
  const events = ['pointerdown', 'keydown'] as const;
  for (const name of events) addEventListener(name, note, { capture: true, passive: true });
  return {
    usedAt: () => lastAt,
    stop: () => {
      for (const name of events) removeEventListener(name, note, { capture: true });
    },
  };
}
