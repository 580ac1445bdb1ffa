import { hash } from 'node:crypto';
import { all, any, type Condition, is, isAbsent, isAtMost, isNew, put, remove, update } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, timeToLive } from '../aws/items.ts';
import type { Runtime } from '../aws/runtime.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { type IdempotencyRecord, REPLAY_MS, RUNNING_MS, replayOrReject, type StoredResponse } from './idempotency.ts';
import type { Problem } from './problems.ts';
import type { Request } from './request.ts';

export type { Write } from '../aws/writes.ts';

/** Larger responses are stored in parts, because an item has at most 400 KB. */
const PART_LENGTH = 90_000;

type StoredRecord = IdempotencyRecord & { owner: string; parts?: number };
type Run = Omit<StoredRecord, 'runningUntil'>;

/*
 * The record of an idempotency key over time. Each run of the request has its own owner.
 *
 *   (nothing) ── begin ──► owner A, running ── finish ──► response ── 24 hours ──► (nothing)
 *       ▲                      │      └── abandon, or 30 s ──► owner B, running …
 *       └────── release ───────┘
 */
const isFree = (now: number): Condition => any(isNew, isAtMost('expiresAt', now));
const isOwnedBy = (owner: string): Condition => is('owner', owner);
/** Its run has ended without a result, and no other run took over. */
const isUnfinished = ({ owner }: StoredRecord): Condition => all(isOwnedBy(owner), isAbsent('response'));

/** The lock of a running first request with an idempotency key. */
export type IdempotencyLock = ReturnType<ReturnType<typeof idempotencyRecords>['lockOf']>;

/** Idempotency records in the table, one per space and key. */
export function idempotencyRecords({ table, clock, random }: { table: Table } & Pick<Runtime, 'clock' | 'random'>) {
  return {
    lockOf,

    async begin(
      { space }: Pick<Request, 'space'>,
      key: string,
      fingerprint: string,
    ): Promise<ReturnType<typeof lockOf> | StoredResponse | Problem> {
      const item = itemKey.idempotency(space, hash('sha256', key, 'base64url'));
      for (;;) {
        const now = clock();
        const owner = Buffer.from(random(16)).toString('base64url');
        const fresh = { fingerprint, owner, runId: owner, startedAt: now, expiresAt: now + REPLAY_MS };
        if (await take(item, fresh, now, isFree(now))) return lockOf(item, fresh);
        const record = (await table.get(item)) as StoredRecord | undefined;
        if (!record || record.expiresAt <= now) continue; // it was deleted since
        const replay = replayOrReject(record, fingerprint, now);
        if (replay) return 'status' in replay ? await assembled(item, replay, record) : replay;
        const takenOver = { ...record, owner };
        if (await take(item, takenOver, now, isUnfinished(record))) return lockOf(item, takenOver);
      }
    },
  };

  async function take(key: ItemKey, run: Run, now: number, condition: Condition): Promise<boolean> {
    const Item = { ...key, ...run, runningUntil: now + RUNNING_MS, expires: timeToLive(run.expiresAt) };
    try {
      return (await table.write([put(Item, condition)])).length === 0;
    } catch (error) {
      await lockOf(key, run)
        .abandon()
        .catch(() => {}); // it may have been taken
      throw error;
    }
  }

  function lockOf(key: ItemKey, { owner, runId, startedAt, expiresAt }: Run) {
    const owned = isOwnedBy(owner);
    const change = (values: Item): Write => update(key, values, owned);
    const store = (response: StoredResponse, parts: number): Write => change({ response, parts });
    return {
      id: runId,
      startedAt,
      /** The write that stores the response, for the transaction that does the work; `null` if the response is too large for it. */
      completion: (response: StoredResponse) => (response.body.length > PART_LENGTH ? null : store(response, 0)),
      /** Stores the response in a separate write. */
      async finish(response: StoredResponse): Promise<void> {
        const parts = response.body.match(new RegExp(`[^]{1,${PART_LENGTH}}`, 'gu')) ?? [];
        if (parts.length <= 1) return void (await table.write([store(response, 0)]));
        const expires = timeToLive(expiresAt);
        await Promise.all(parts.map((text, i) => table.write([put({ ...partKey(key, owner, i), text, expires })])));
        await table.write([store({ ...response, body: '' }, parts.length)]);
      },
      /** Releases the key after a request without an effect. */
      async release(): Promise<void> {
        await table.write([remove(key, owned)]);
      },
      /** The outcome is unknown, so the same request can run again immediately. */
      async abandon(): Promise<void> {
        await table.write([change({ runningUntil: 0 })]);
      },
    };
  }

  async function assembled(
    key: ItemKey,
    response: StoredResponse,
    { owner, parts = 0 }: StoredRecord,
  ): Promise<StoredResponse> {
    if (parts === 0) return response;
    const items = await Promise.all(Array.from({ length: parts }, (_, i) => table.get(partKey(key, owner, i))));
    return { ...response, body: items.map((item) => item?.text).join('') };
  }
}

/** The owner is part of the key, so a run that was taken over does not write parts of the new run. */
const partKey = ({ pk }: ItemKey, owner: string, i: number): ItemKey => ({ pk, sk: `PART#${owner}#${i}` });
