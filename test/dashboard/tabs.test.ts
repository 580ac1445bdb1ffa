import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ANSWER_MS, type Channel, joinTabs, MORE_ANSWERS_MS } from '../../functions/dashboard/app/tabs.ts';
import { newApiKey } from '../../lib/access/api-key.ts';

const keyOf = (type: 'admin' | 'live') => newApiKey(type, 0, randomBytes).key;
const [first, second] = [keyOf('admin'), keyOf('admin')];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Tabs of one origin; a message takes a moment to arrive, and never reaches the tab that sent it. */
function createBrowser() {
  const channels = new Set<Channel>();
  const sent: unknown[] = [];
  const connect = (): Channel => {
    const channel: Channel = {
      onmessage: null,
      postMessage(message) {
        sent.push(message);
        for (const other of [...channels].filter((each) => each !== channel)) {
          setTimeout(() => other.onmessage?.call(other as BroadcastChannel, { data: message } as MessageEvent), 1);
        }
      },
      close: () => channels.delete(channel),
    };
    channels.add(channel);
    return channel;
  };
  const open = (key: string | null, usedAt = 0) => {
    const state = { key, answers: [] as (string | null)[], signedOut: 0 };
    const tabs = joinTabs(connect(), {
      key: () => state.key,
      usedAt: () => usedAt,
      onAnswer: (answer) => state.answers.push(answer),
      onSignedOut: () => state.signedOut++,
    });
    return { ...tabs, state };
  };
  return { connect, open, sent };
}

describe('a tab without a key', () => {
  it('gets the key of a tab that is signed in', () => {
    const { open } = createBrowser();
    open(first);
    const tab = open(null);
    tab.ask();
    vi.advanceTimersByTime(2 + MORE_ANSWERS_MS);
    expect(tab.state.answers).toEqual([first]);
  });

  it.each([
    [first, 20, 10],
    [second, 10, 20],
  ])('gets that of the tab which was used last', (expected, firstUsedAt, secondUsedAt) => {
    const { open } = createBrowser();
    open(first, firstUsedAt);
    open(second, secondUsedAt);
    const tab = open(null);
    tab.ask();
    vi.advanceTimersByTime(2 + MORE_ANSWERS_MS);
    expect(tab.state.answers).toEqual([expected]);
  });

  it('waits a fifth of a second for tabs that have none', () => {
    const { open } = createBrowser();
    const others = [open(null), open(null)];
    const tab = open(null);
    tab.ask();
    vi.advanceTimersByTime(ANSWER_MS - 1);
    expect(tab.state.answers).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(tab.state.answers).toEqual([null]);
    for (const { state } of others) expect(state).toEqual({ key: null, answers: [], signedOut: 0 });
  });

  it.each(['before', 'after'] as const)('takes a late answer, but not %s the user stopped it', (order) => {
    const { connect, open } = createBrowser();
    const tab = open(null);
    tab.ask();
    vi.advanceTimersByTime(ANSWER_MS);
    if (order === 'after') tab.stopAsking();
    connect().postMessage({ type: 'key_given', key: first, usedAt: 0 });
    vi.advanceTimersByTime(ANSWER_MS);
    expect(tab.state.answers).toEqual(order === 'after' ? [null] : [null, first]);
  });

  it('takes no key that it did not ask for, and nothing but an admin key', () => {
    const { connect, open } = createBrowser();
    const stranger = connect();
    const tab = open(null);
    stranger.postMessage({ type: 'key_given', key: first, usedAt: 0 });
    vi.advanceTimersByTime(ANSWER_MS);
    tab.ask();
    for (const key of [keyOf('live'), '', `${first} `, undefined, 7, [first]]) {
      stranger.postMessage({ type: 'key_given', key, usedAt: 0 });
    }
    for (const message of [null, 'key_given', {}, { type: 'toString' }]) stranger.postMessage(message);
    vi.advanceTimersByTime(ANSWER_MS);
    expect(tab.state.answers).toEqual([null]);
  });
});

describe('a tab with a key', () => {
  it('keeps it, whatever others give', () => {
    const { connect, open } = createBrowser();
    const tab = open(first);
    connect().postMessage({ type: 'key_given', key: second, usedAt: 9 });
    vi.advanceTimersByTime(ANSWER_MS);
    expect(tab.state.answers).toEqual([]);
  });

  it('gives it to nobody who did not ask, and to nobody once it is signed out', () => {
    const { open, sent } = createBrowser();
    const tab = open(first);
    vi.advanceTimersByTime(ANSWER_MS);
    expect(sent).toEqual([]);
    tab.state.key = null;
    open(null).ask();
    vi.advanceTimersByTime(ANSWER_MS);
    expect(sent).toEqual([{ type: 'key_asked' }]);
  });

  it('that signs out signs out all others, also one that is still asking', () => {
    const { open } = createBrowser();
    const others = [open(first), open(second), open(null)];
    const asking = open(null);
    const tab = open(first);
    asking.ask();
    tab.tellSignedOut();
    vi.advanceTimersByTime(ANSWER_MS);
    expect(tab.state.signedOut).toBe(0);
    for (const { state } of [...others, asking]) expect(state.signedOut).toBe(1);
    expect(asking.state.answers).toEqual([]);
  });

  it('hears nothing after it left', () => {
    const { open } = createBrowser();
    const [tab, other] = [open(first), open(first)];
    tab.leave();
    other.tellSignedOut();
    vi.advanceTimersByTime(ANSWER_MS);
    expect(tab.state.signedOut).toBe(0);
  });
});
