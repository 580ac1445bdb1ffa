import { hash } from 'node:crypto';
import type { Backend } from '../aws/backend.ts';
import { all, any, type Condition, is, isAbsent, isAtMost, isNew, put, remove, update } from '../aws/expressions.ts';
import { type Item, type ItemKey, itemKey, timeToLive } from '../aws/items.ts';
import type { Write } from '../aws/writes.ts';
import { type Caller, ownerOf } from './caller.ts';
import { Problem } from './problems.ts';
import { REPLAY_MS, RUNNING_MS, replayOrReject, type StoredResponse } from './replay.ts';
import type { Request } from './request.ts';

/**
 * The identity of a request with an idempotency key. A repetition after an unknown outcome has the same identity.
 */
export interface RequestIdentity {
  id: string;
  startedAt: number;
  /** Whether an earlier run of the request has ended. It may have done its work. */
  isRepeated: boolean;
}

/** A request that has ended. Another run of it returns the response, because the record does not contain the body. */
export interface RepeatableRequest {
  repeated: RequestIdentity;
}

/**
 * Scoped tokens reach different documents, and a dashboard session must not receive the response to the request of a server. So an
 * idempotency key belongs to the owner of the token or session, and otherwise to the space.
 */
const scoped = (caller: Caller, key: string): string =>
  hash('sha256', caller.token || caller.session ? JSON.stringify([ownerOf(caller), key]) : key, 'base64url');

/** Larger responses are stored in parts, because an item has at most 400 KB. None has as much as a transaction, 4 MB. */
const PART_LENGTH = 90_000;

/** The record of an idempotency key. */
interface StoredRecord {
  fingerprint: string;
  owner: string;
  /** Identifies the request in every run. */
  runId: string;
  /** When its first run began. */
  startedAt: number;
  expiresAt: number;
  runningUntil: number;
  response?: StoredResponse;
  parts?: number;
}
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

/** Idempotency records in the table, one per scope and key. */
export function idempotencyRecords({ table, clock, random }: Pick<Backend, 'table' | 'clock' | 'random'>) {
  return {
    lockOf,

    async begin(
      { space, caller }: Pick<Request, 'space' | 'caller'>,
      key: string,
      fingerprint: string,
    ): Promise<ReturnType<typeof lockOf> | StoredResponse | RepeatableRequest | Problem> {
      const item = itemKey.idempotency(space, scoped(caller, key));
      for (;;) {
        const now = clock();
        const owner = Buffer.from(random(16)).toString('base64url');
        const fresh = { fingerprint, owner, runId: owner, startedAt: now, expiresAt: now + REPLAY_MS };
        if (await take(item, fresh, now, isFree(now))) return lockOf(item, fresh);
        const record = (await table.get(item)) as StoredRecord | undefined;
        if (!record || record.expiresAt <= now) continue; // it was deleted since
        const replay = replayOrReject(record, fingerprint, now);
        if (replay instanceof Problem) return replay;
        if (replay?.isRepeatable)
          return { repeated: { id: record.runId, startedAt: record.startedAt, isRepeated: true } };
        if (replay) return await assembled(item, replay, record);
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
    const writesOf = (response: StoredResponse): Write[] => {
      const parts = response.body.match(new RegExp(`[^]{1,${PART_LENGTH}}`, 'gu')) ?? [];
      if (parts.length <= 1) return [change({ response, parts: 0 })];
      const expires = timeToLive(expiresAt);
      const puts = parts.map((text, i) => put({ ...partKey(key, owner, i), text, expires }));
      return [...puts, change({ response: { ...response, body: '' }, parts: parts.length })];
    };
    return {
      id: runId,
      startedAt,
      isRepeated: owner !== runId,
      /** The writes that store the response, for the transaction that does the work. */
      completion: writesOf,
      /** Stores the response separately. */
      async finish(response: StoredResponse): Promise<void> {
        await table.write(writesOf(response));
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
const partKey = ({ pk, sk }: ItemKey, owner: string, i: number): ItemKey => ({ pk, sk: `${sk}#PART#${owner}#${i}` });
