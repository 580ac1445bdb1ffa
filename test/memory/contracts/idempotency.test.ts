import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../lib/http/caller.ts';
import {
  type IdempotencyLock,
  idempotencyRecords,
  type RepeatableRequest,
} from '../../../lib/http/idempotency-store.ts';
import { Problem } from '../../../lib/http/problems.ts';
import { REPLAY_MS, RUNNING_MS, type StoredResponse } from '../../../lib/http/replay.ts';
import type { Request } from '../../../lib/http/request.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import { newSpace, newWebhook, now } from './builders.ts';
import { newStore } from './stores.ts';

const response = (overrides: Partial<StoredResponse> = {}): StoredResponse => ({
  status: 201,
  body: '{"id":"1"}',
  headers: { ETag: '"1"' },
  ...overrides,
});

/** Describes the result of `begin` in one word. */
function wordFor(begun: IdempotencyLock | StoredResponse | RepeatableRequest | Problem): string {
  if (begun instanceof Problem) return begun.code;
  return 'finish' in begun ? 'lock' : 'response';
}

const { table } = newStore();

describe('idempotency', () => {
  /** Creates a key, and the same request with it at different times. */
  function requests(from = table) {
    const space = newSpace();
    const caller: Caller = { projectId: space.projectId, keyId: 'key_1', type: 'live' };
    const key: string = randomUUID();
    let time = now;
    const records = idempotencyRecords({ table: from, clock: () => time, random: randomBytes });
    const begin = (at: number, fingerprint = 'same') => {
      time = at;
      return records.begin({ space, caller } as Request, key, fingerprint);
    };
    return {
      begin,
      /** Describes the result at a time. */
      at: async (at: number, fingerprint?: string) => wordFor(await begin(at, fingerprint)),
      async lock(at = now): Promise<IdempotencyLock> {
        const begun = await begin(at);
        if (!('finish' in begun)) throw new Error(`Not a lock: ${wordFor(begun)}`);
        return begun;
      },
    };
  }

  const ENDED = now + RUNNING_MS;
  const OVER = now + REPLAY_MS;

  /** How the first request with a key ended, if it did. */
  const FIRST = {
    running: async () => {},
    abandoned: (own: IdempotencyLock) => own.abandon(),
    released: (own: IdempotencyLock) => own.release(),
    done: (own: IdempotencyLock) => own.finish(response()),
  };
  const [RUNNING, REUSED] = ['idempotency_in_progress', 'idempotency_key_reused'];

  it.each<[keyof typeof FIRST, at: number, same: string, other: string]>([
    ['running', ENDED - 1, RUNNING, REUSED],
    ['running', ENDED, 'lock', REUSED],
    ['abandoned', now, 'lock', REUSED],
    ['released', now, 'lock', 'lock'],
    ['done', OVER - 1, 'response', REUSED],
    ['done', OVER, 'lock', 'lock'],
  ])('after a first request that is %s, at %i, the same request gets %s, and another one %s', async (first, at, ...words) => {
    for (const [i, fingerprint] of ['same', 'other'].entries()) {
      const made = requests();
      await FIRST[first](await made.lock());
      expect(await made.at(at, fingerprint)).toBe(words[i]);
    }
  });

  it.each<[keyof typeof FIRST, at: number]>([
    ['released', now],
    ['running', ENDED],
    ['done', OVER],
  ])('one of two concurrent requests runs after a first one that is %s, at %i', async (first, at) => {
    const made = requests();
    await FIRST[first](await made.lock());
    expect((await Promise.all([made.at(at), made.at(at)])).sort()).toEqual([RUNNING, 'lock']);
  });

  it('a run that finishes while another one takes over keeps its response', async () => {
    let finish = async () => {};
    const { at, lock } = requests({
      ...table,
      async get(key) {
        const record = await table.get(key);
        await finish();
        return record;
      },
    });
    const own = await lock();
    finish = () => own.finish(response());
    expect(await at(ENDED)).toBe('response');
  });

  it('a request has an identity, which another run of the same request keeps', async () => {
    const { lock } = requests();
    const first = await lock();
    expect((await requests().lock()).id).not.toBe(first.id);
    const second = await lock(ENDED);
    expect([first.startedAt, second.startedAt, second.id]).toEqual([now, now, first.id]);
    await second.abandon();
    expect((await lock(ENDED)).id).toBe(first.id);
    const fresh = await lock(OVER);
    expect(fresh.startedAt).toBe(OVER);
    expect(fresh.id).not.toBe(first.id);
  });

  it('a response that another run returns is not stored, and such a run has the identity of the first one', async () => {
    const { begin, at, lock } = requests();
    const { id, startedAt, finish } = await lock();
    await finish(response({ body: '', isRepeatable: true }));
    for (const time of [now, ENDED])
      expect(await begin(time)).toEqual({ repeated: { id, startedAt, isRepeated: true } });
    expect(await at(now, 'other')).toBe(REUSED);
    expect(await at(OVER)).toBe('lock');
  });

  it.each([
    ['nothing', ''],
    ['one character more', 'a'.repeat(90_001)],
    ['characters of four bytes across every border', `a${'😀'.repeat(100_000)}`],
  ])('a stored response keeps every character of %s', async (_, body) => {
    const { begin, lock } = requests();
    const own = await lock();
    await own.finish(response({ body }));
    await own.abandon(); // changes nothing
    for (const at of [now, ENDED]) {
      const replayed = (await begin(at)) as StoredResponse;
      expect({ ...replayed, body: replayed.body === body }).toEqual({ ...response(), body: true });
    }
  });

  describe('a run that another one took over', () => {
    it.each(['released', 'abandoned'] as const)('changes nothing when it is %s', async (end) => {
      const { at, lock } = requests();
      const dead = await lock();
      await lock(ENDED);
      await FIRST[end](dead);
      expect(await at(ENDED)).toBe(RUNNING);
    });

    it.each(['alive', 'alive'.repeat(30_000)])('stores no response, and no part of one', async (body) => {
      const { at, begin, lock } = requests();
      const [dead, alive] = [await lock(), await lock(ENDED)];
      await dead.finish(response({ body: body.replaceAll('alive', 'dead ') }));
      expect(await at(ENDED)).toBe(RUNNING);
      await alive.finish(response({ body }));
      await dead.finish(response({ body: body.replaceAll('alive', 'dead ') }));
      expect(((await begin(ENDED)) as StoredResponse).body === body).toBe(true);
    });

    it('makes no change together with its response', async () => {
      const { lock } = requests();
      const part = (await lock()).completion(response());
      await lock(ENDED);
      const webhook = newWebhook();
      await expect(webhooks(table).create(webhook, part ?? [])).rejects.toThrow();
      expect(await webhooks(table).get(webhook, webhook.id)).toBeUndefined();
    });
  });

  it.each([
    'done',
    'released',
    'abandoned',
  ] as const)('a key that is free gets no record by a run that is %s', async (end) => {
    const { at, lock } = requests();
    const own = await lock();
    await own.release();
    await FIRST[end](own);
    expect(await at(now, 'other')).toBe('lock');
  });
});
