import { KEY_FORMAT } from '../../../lib/access/key-format.ts';

/** What tabs tell each other. A tab may still run an older version of this page: what it does not know it ignores. */
type Message = { type: 'key_asked' } | { type: 'key_given'; key: string; usedAt: number } | { type: 'signed_out' };
type Given = Extract<Message, { type: 'key_given' }>;

/** A BroadcastChannel, which reaches pages of the same origin and no others. */
export type Channel = Pick<BroadcastChannel, 'postMessage' | 'onmessage' | 'close'>;

export interface Tab {
  /** The key that this tab is signed in with. */
  key(): string | null;
  /** When the user last did something in this tab, in milliseconds. */
  usedAt(): number;
  /** The key that another tab gave; `null` if none did in time. One can still come after that, from a tab that was busy. */
  onAnswer(key: string | null): void;
  onSignedOut(): void;
}

export interface Tabs {
  /** Asks the other tabs for the key that they are signed in with. */
  ask(): void;
  /** Takes no key from now on: the user has signed in or out. */
  stopAsking(): void;
  tellSignedOut(): void;
  leave(): void;
}

/** How long the sign-in form waits for another tab. */
export const ANSWER_MS = 200;
/** From the first answer on: of tabs with different keys the one used last is meant, since a link in it opened this one. */
export const MORE_ANSWERS_MS = 20;

/** The key is handed from tab to tab and stored nowhere but in the session storage of each. */
export function joinTabs(channel: Channel, tab: Tab): Tabs {
  let isAsking = false;
  let given: Given | undefined;
  const tell = (message: Message) => channel.postMessage(message);
  const settle = () => {
    if (isAsking) tab.onAnswer(given?.key ?? null);
  };
  const stopAsking = () => {
    isAsking = false;
    given = undefined;
  };
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!isMessage(data)) return;
    const key = tab.key();
    if (data.type === 'key_asked' && key !== null) tell({ type: 'key_given', key, usedAt: tab.usedAt() });
    if (data.type === 'key_given' && isAsking && isAdminKey(data.key)) {
      if (!given) setTimeout(settle, MORE_ANSWERS_MS);
      if (!given || data.usedAt > given.usedAt) given = data;
    }
    if (data.type === 'signed_out') {
      stopAsking();
      tab.onSignedOut();
    }
  };
  return {
    ask() {
      isAsking = true;
      tell({ type: 'key_asked' });
      setTimeout(settle, ANSWER_MS);
    },
    stopAsking,
    tellSignedOut: () => tell({ type: 'signed_out' }),
    leave: () => channel.close(),
  };
}

const isMessage = (data: unknown): data is Message => typeof data === 'object' && data !== null && 'type' in data;
const isAdminKey = (key: unknown): boolean => typeof key === 'string' && KEY_FORMAT.exec(key)?.[1] === 'admin';
