import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type IdempotencyLock,
  idempotencyRecords,
  REPLAY_MS,
  RUNNING_MS,
  type StoredResponse,
} from '../../../lib/http/idempotency-store.ts';
import { Problem } from '../../../lib/http/problems.ts';
import type { Request } from '../../../lib/http/request.ts';
import type { Space } from '../../../lib/space.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import { newSpace, newWebhook, now } from './builders.ts';
import { stores } from './stores.ts';

const response = (overrides: Partial<StoredResponse> = {}): StoredResponse => ({
  status: 201,
  body: '{"id":"1"}',
  headers: { ETag: '"1"' },
  ...overrides,
});

/** Describes the result of `begin` in one word. */
function wordFor(begun: IdempotencyLock | StoredResponse | Problem): string {
  if (begun instanceof Problem) return begun.code;
  return 'finish' in begun ? 'lock' : 'response';
}

describe.each(stores)('idempotency in $name', ({ table, lossy }) => {
  /** Creates a key, and the same request with it at different times. */
  function requests(from = table) {
    const space = newSpace();
    const key: string = randomUUID();
    let time = now;
    const records = idempotencyRecords({ table: from, clock: () => time, random: randomBytes });
    const begin = (at: number, fingerprint = 'same', where: Space = space, under = key) => {
      time = at;
      return records.begin({ space: where } as Request, under, fingerprint);
    };
    return {
      ...{ space, key, begin },
      async lock(at = now): Promise<IdempotencyLock> {
        const begun = await begin(at);
        if (!('finish' in begun)) throw new Error(`Not a lock: ${wordFor(begun)}`);
        return begun;
      },
    };
  }

  describe('begin', () => {
    it('returns a lock with a new identity for the first request', async () => {
      const [one, other] = [await requests().lock(), await requests().lock(now + 5)];
      expect([one.startedAt, other.startedAt]).toEqual([now, now + 5]);
      expect(one.id).not.toBe(other.id);
    });

    it('returns a lock to one of two concurrent requests', async () => {
      const { begin } = requests();
      const both = await Promise.all([begin(now), begin(now)]);
      expect(both.map(wordFor).sort()).toEqual(['idempotency_in_progress', 'lock']);
    });

    it.each([
      ['the same request', 'same', 'idempotency_in_progress'],
      ['another request', 'other', 'idempotency_key_reused'],
    ])('rejects %s while the first request runs', async (_, fingerprint, word) => {
      const { begin, lock } = requests();
      await lock();
      expect(wordFor(await begin(now + RUNNING_MS - 1, fingerprint))).toBe(word);
    });

    it('is independent of other keys, environments and projects', async () => {
      const { space, key, begin, lock } = requests();
      await lock();
      const others = [
        await begin(now, 'same', { ...space, environment: 'sandbox' }),
        await begin(now, 'same', newSpace()),
        await begin(now, 'same', space, `${key} `),
        await begin(now, 'same', space, key.toUpperCase()),
      ];
      expect(others.map(wordFor)).toEqual(Array(4).fill('lock'));
    });

    it('takes over a request whose first run ended, with the same identity', async () => {
      const { begin, lock } = requests();
      const first = await lock();
      const second = await lock(now + RUNNING_MS);
      expect([second.id, second.startedAt]).toEqual([first.id, first.startedAt]);
      expect(wordFor(await begin(now + 2 * RUNNING_MS - 1))).toBe('idempotency_in_progress');
      expect(wordFor(await begin(now + 2 * RUNNING_MS))).toBe('lock');
    });

    it('allows one of two requests to take over', async () => {
      const { begin, lock } = requests();
      await lock();
      const both = await Promise.all([begin(now + RUNNING_MS), begin(now + RUNNING_MS)]);
      expect(both.map(wordFor).sort()).toEqual(['idempotency_in_progress', 'lock']);
    });

    it('never takes over for another request', async () => {
      const { begin, lock } = requests();
      await lock();
      expect(wordFor(await begin(now + RUNNING_MS, 'other'))).toBe('idempotency_key_reused');
    });

    it.each(['same', 'other'])('starts a new request after a day: %s', async (fingerprint) => {
      const { begin, lock } = requests();
      const first = await lock();
      await first.finish(response());
      expect(wordFor(await begin(now + REPLAY_MS - 1))).toBe('response');
      const fresh = (await begin(now + REPLAY_MS, fingerprint)) as IdempotencyLock;
      expect(wordFor(fresh)).toBe('lock');
      expect(fresh.id).not.toBe(first.id);
      expect(fresh.startedAt).toBe(now + REPLAY_MS);
    });

    it('allows one of two requests to start after a day', async () => {
      const { begin, lock } = requests();
      await (await lock()).finish(response());
      const both = await Promise.all([begin(now + REPLAY_MS), begin(now + REPLAY_MS)]);
      expect(both.map(wordFor).sort()).toEqual(['idempotency_in_progress', 'lock']);
    });

    it('returns the lock after a lost response, also when it takes over', async () => {
      const { lock } = requests(lossy);
      const first = await lock();
      expect((await lock(now + RUNNING_MS)).id).toBe(first.id);
    });
  });

  describe('finish', () => {
    it('stores the response for any number of repetitions', async () => {
      const { begin, lock } = requests();
      await (await lock()).finish(response());
      expect(await begin(now + 1)).toEqual(response());
      expect(await begin(now + RUNNING_MS)).toEqual(response());
      expect(wordFor(await begin(now + 1, 'other'))).toBe('idempotency_key_reused');
    });

    it.each([
      ['nothing', ''],
      ['a little', '{}'],
      ['what just fits into one part', 'a'.repeat(90_000)],
      ['one character more', 'a'.repeat(90_001)],
      ['several parts', Array.from({ length: 60_000 }, (_, i) => String(i)).join()],
      ['characters of four bytes across every border', `a${'😀'.repeat(100_000)}`],
      ['lines', 'line\r\n\u2028'.repeat(20_000)],
    ])('keeps every character of %s', async (_, body) => {
      const { begin, lock } = requests();
      await (await lock()).finish(response({ body }));
      const replayed = (await begin(now)) as StoredResponse;
      expect({ ...replayed, body: replayed.body === body }).toEqual({ ...response(), body: true });
    });

    it('does nothing for a run that another one took over', async () => {
      const { begin, lock } = requests();
      const dead = await lock();
      const alive = await lock(now + RUNNING_MS);
      await dead.finish(response({ body: 'dead' }));
      expect(wordFor(await begin(now + RUNNING_MS))).toBe('idempotency_in_progress');
      await alive.finish(response({ body: 'alive' }));
      await dead.finish(response({ body: 'dead' }));
      expect(await begin(now + RUNNING_MS)).toEqual(response({ body: 'alive' }));
    });

    it('changes no part of a long response for a run that another one took over', async () => {
      const { begin, lock } = requests();
      const dead = await lock();
      const alive = await lock(now + RUNNING_MS);
      await alive.finish(response({ body: 'alive'.repeat(30_000) }));
      await dead.finish(response({ body: 'dead '.repeat(30_000) }));
      const { body } = (await begin(now + RUNNING_MS)) as StoredResponse;
      expect(body === 'alive'.repeat(30_000)).toBe(true);
    });

    it('creates no record for a run whose record was deleted', async () => {
      const { begin, lock } = requests();
      const released = await lock();
      await released.release();
      await released.finish(response());
      expect(wordFor(await begin(now))).toBe('lock');
    });
  });

  describe('completion', () => {
    it('stores the response only together with the change', async () => {
      const { begin, lock } = requests();
      const own = await lock();
      const part = own.completion(response());
      const webhook = newWebhook();
      await webhooks(table).create(webhook, []);
      const also = part ? [part] : [];
      await expect(webhooks(table).create(webhook, also)).rejects.toThrow();
      expect(wordFor(await begin(now))).toBe('idempotency_in_progress');
      await webhooks(table).create(newWebhook(), also);
      expect(await begin(now)).toEqual(response());
    });

    it('cancels the change of a run that another one took over', async () => {
      const { lock } = requests();
      const part = (await lock()).completion(response());
      await lock(now + RUNNING_MS);
      const webhook = newWebhook();
      await expect(webhooks(table).create(webhook, part ? [part] : [])).rejects.toThrow();
      expect(await webhooks(table).get(webhook, webhook.id)).toBeUndefined();
    });

    it.each([
      [90_000, true],
      [90_001, false],
    ])('is part of a transaction with %i characters: %s', async (length, isPart) => {
      const part = (await requests().lock()).completion(response({ body: 'a'.repeat(length) }));
      expect(part !== null).toBe(isPart);
    });
  });

  describe('release', () => {
    it('releases the key immediately for any request', async () => {
      const { begin, lock } = requests();
      const first = await lock();
      await first.release();
      const next = (await begin(now, 'other')) as IdempotencyLock;
      expect(wordFor(next)).toBe('lock');
      expect(next.id).not.toBe(first.id);
    });
  });

  describe('abandon', () => {
    it('allows the same request to take over immediately, with the same identity', async () => {
      const { begin, lock } = requests();
      const first = await lock();
      await first.abandon();
      expect(wordFor(await begin(now, 'other'))).toBe('idempotency_key_reused');
      const second = await lock();
      expect([second.id, second.startedAt]).toEqual([first.id, first.startedAt]);
    });

    it('keeps a stored response', async () => {
      const { begin, lock } = requests();
      const own = await lock();
      await own.finish(response());
      await own.abandon();
      expect(await begin(now)).toEqual(response());
    });
  });

  it.each(['release', 'abandon'] as const)('%s of a run that another one took over does nothing', async (act) => {
    const { begin, lock } = requests();
    const dead = await lock();
    await lock(now + RUNNING_MS);
    await dead[act]();
    expect(wordFor(await begin(now + RUNNING_MS))).toBe('idempotency_in_progress');
  });

  it.each(['release', 'abandon'] as const)('%s of a key that is free makes no record', async (act) => {
    const { lock, begin } = requests();
    const own = await lock();
    await own.release();
    await own[act]();
    expect(wordFor(await begin(now, 'other'))).toBe('lock');
  });
});
