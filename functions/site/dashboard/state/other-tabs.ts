import { deploymentPath, lastUseAt, rememberedKey } from './remembered-key.ts';

type Message = { type: 'ask' } | { type: 'answer'; key: string; usedAt: number } | { type: 'sign-out' };

/** Tabs can be signed in with different keys. A new tab waits this long for other answers, also of busy tabs, and takes the tab used last. */
const ANSWERS_MS = 200;

/** Tabs of this deployment in the same browser exchange the key here. Only pages of the same origin can join, and nothing is stored. */
const channelName = (): string => `keys ${deploymentPath()}`;

/** Returns `undefined` in browsers that block the channel with the storage. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(channelName());
  } catch {
    return undefined;
  }
}

interface Handlers {
  /** Whether this tab takes the key of another one while it has no key itself. */
  asksForKey: boolean;
  /** Another tab is signed in with this key. */
  onKey(key: string): void;
  onSignOut(): void;
}

/** Answers other tabs with the key of this one. A new tab without a key requests one, so that a link in a new tab is signed in. */
export function joinTabs({ asksForKey, onKey, onSignOut }: Handlers): () => void {
  const channel = openChannel();
  if (!channel) return () => {};
  const post = (message: Message) => channel.postMessage(message);
  let best: Extract<Message, { type: 'answer' }> | undefined;
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    const key = rememberedKey();
    if (data.type === 'sign-out') {
      best = undefined; // The tabs that answered are now signed out.
      onSignOut();
    } else if (data.type === 'ask') {
      if (key !== null) post({ type: 'answer', key, usedAt: lastUseAt() });
    } else if (asksForKey && key === null) {
      if (best === undefined) setTimeout(() => rememberedKey() === null && best && onKey(best.key), ANSWERS_MS);
      if (best === undefined || data.usedAt > best.usedAt) best = data;
    }
  };
  if (asksForKey && rememberedKey() === null) post({ type: 'ask' });
  return () => channel.close();
}

/** Signs out the other tabs of the browser. */
export function signOutOtherTabs(): void {
  const channel = openChannel();
  channel?.postMessage({ type: 'sign-out' } satisfies Message);
  channel?.close();
}
