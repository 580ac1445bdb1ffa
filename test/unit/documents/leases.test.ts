import { describe, expect, it } from 'vitest';
import type { ConnectionRecord } from '../../../lib/documents/connections.ts';
import { checkConnection } from '../../../lib/documents/leases.ts';
import { newConnection, now } from '../../memory/contracts/builders.ts';

const record = newConnection({
  connectedAt: now - 600_000,
  lastSeenAt: now - 60_000,
  leaseSeconds: 60,
  expiresAt: now,
  checkAt: now,
});
const { id: connectionId, projectId, environment } = record;
const message = { connectionId, projectId, environment, checkAt: now };

/** A check of what is stored; `meanwhile` happens between its reading and its writing. */
async function checked(stored: ConnectionRecord | undefined, meanwhile: (ConnectionRecord | undefined)[] = []) {
  let current = stored;
  const delays: number[] = [];
  const lost: string[] = [];
  const replace = (before: ConnectionRecord | undefined, after: ConnectionRecord | undefined) => {
    if (meanwhile.length > 0) current = meanwhile.shift();
    if (current !== before) return false;
    current = after;
    return true;
  };
  const result = await checkConnection(message, {
    connections: {
      get: async () => current,
      put: async (before, after) => replace(before, after),
      remove: async (before, events) => {
        const isDone = replace(before, undefined);
        if (isDone) lost.push(...events.map(({ type }) => type));
        return isDone;
      },
    },
    scheduleCheck: async ({ checkAt }, delaySeconds) => {
      expect(checkAt).toBe(current?.expiresAt);
      delays.push(delaySeconds);
    },
    clock: () => now,
    random: (length) => new Uint8Array(length),
  });
  return { result, delays, lost, current };
}
const renewed = { ...record, lastSeenAt: now - 1, expiresAt: now + 59_400 };

describe('a check', () => {
  it('ends a lease that has run out, with its event', async () => {
    expect(await checked(record)).toEqual({
      result: 'lost',
      delays: [],
      lost: ['connection.lost'],
      current: undefined,
    });
  });

  it('has a lease that was renewed looked at when it ends', async () => {
    const current = { ...renewed, checkAt: renewed.expiresAt };
    expect(await checked(renewed)).toEqual({ result: 'open', delays: [60], lost: [], current });
  });

  it('does so too if it is renewed while it ends', async () => {
    const current = { ...renewed, checkAt: renewed.expiresAt };
    expect(await checked(record, [renewed])).toEqual({ result: 'open', delays: [60], lost: [], current });
  });

  it('has nothing to do if the connection is closed, before or meanwhile', async () => {
    const gone = { result: 'gone', delays: [], lost: [], current: undefined };
    expect(await checked(undefined)).toEqual(gone);
    expect(await checked(record, [undefined])).toEqual(gone);
  });

  it('is the last of its kind if a later one is on its way', async () => {
    const expected = { ...renewed, checkAt: now + 1 };
    expect(await checked(expected)).toEqual({ result: 'open', delays: [], lost: [], current: expected });
    expect((await checked({ ...renewed, checkAt: now - 1 })).delays).toEqual([60]);
    expect((await checked(record, [expected])).delays).toEqual([]);
  });

  it('ends a lease that has run out, also if a later one is on its way', async () => {
    expect((await checked({ ...record, checkAt: now + 1000 })).result).toBe('lost');
  });
});
