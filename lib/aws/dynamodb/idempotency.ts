import { createHash, randomUUID } from 'node:crypto';
import {
  type FirstRun,
  type Idempotency,
  type IdempotencyRecord,
  meetRecord,
  REPLAY_MS,
  RUNNING_MS,
  type StoredAnswer,
} from '../../http/idempotency.ts';
import type { Clock } from '../system.ts';
import { type Item, type ItemKey, itemKey, setting, type Table, timeToLive, type Write } from './table.ts';

/** Answers over this are stored in parts: an item may have 400 KB. */
const PART_LENGTH = 90_000;

type StoredRecord = IdempotencyRecord & { owner: string; parts?: number };
type Run = Omit<StoredRecord, 'runningUntil'>;

const isFree = (now: number) => ({
  ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
  ExpressionAttributeValues: { ':now': now },
});

const isOwnedBy = (owner: string) => ({
  ConditionExpression: '#owner = :owner',
  ExpressionAttributeNames: { '#owner': 'owner' },
  ExpressionAttributeValues: { ':owner': owner },
});

// Its run is dead, and no other has taken its place.
const isUnfinished = ({ owner }: StoredRecord) => {
  const owned = isOwnedBy(owner);
  return { ...owned, ConditionExpression: `${owned.ConditionExpression} AND attribute_not_exists(answer)` };
};

/** Idempotency records in the table, one per space and key. */
export function idempotencyRecords(table: Table, clock: Clock): Idempotency {
  return {
    async begin({ space }, key, fingerprint) {
      const item = itemKey.idempotency(space, createHash('sha256').update(key).digest('base64url'));
      for (;;) {
        const now = clock();
        const owner = randomUUID();
        const fresh = { fingerprint, owner, runId: owner, startedAt: now, expiresAt: now + REPLAY_MS };
        if (await take(item, fresh, now, isFree(now))) return firstRun(item, fresh);
        const record = (await table.get(item)) as StoredRecord | undefined;
        if (!record || record.expiresAt <= now) continue; // gone meanwhile
        const met = meetRecord(record, fingerprint, now);
        if (met) return 'status' in met ? await assembled(item, met, record.parts ?? 0) : met;
        const takenOver = { ...record, owner };
        if (await take(item, takenOver, now, isUnfinished(record))) return firstRun(item, takenOver);
      }
    },
  };

  async function take(key: ItemKey, run: Run, now: number, condition: object): Promise<boolean> {
    const Item = { ...key, ...run, runningUntil: now + RUNNING_MS, expires: timeToLive(run.expiresAt) };
    try {
      return (await table.write([{ Put: { Item, ...condition } }])).length === 0;
    } catch (error) {
      await firstRun(key, run)
        .abandon()
        .catch(() => {}); // it may have been taken
      throw error;
    }
  }

  function firstRun(key: ItemKey, { owner, runId, startedAt, expiresAt }: Run): FirstRun {
    const owned = isOwnedBy(owner);
    const change = (values: Item, condition = owned): Write => {
      const update = setting(values);
      const ExpressionAttributeNames = { ...update.ExpressionAttributeNames, ...condition.ExpressionAttributeNames };
      const ExpressionAttributeValues = { ...update.ExpressionAttributeValues, ...condition.ExpressionAttributeValues };
      return { Update: { Key: key, ...update, ...condition, ExpressionAttributeNames, ExpressionAttributeValues } };
    };
    const store = (answer: StoredAnswer, parts: number): Write => change({ answer, parts });
    return {
      id: runId,
      startedAt,
      completion: (answer) => (answer.body.length > PART_LENGTH ? null : store(answer, 0)),
      async finish(answer) {
        const parts = answer.body.match(new RegExp(`[^]{1,${PART_LENGTH}}`, 'gu')) ?? [];
        if (parts.length <= 1) return void (await table.write([store(answer, 0)]));
        const expires = timeToLive(expiresAt);
        await Promise.all(
          parts.map((text, i) => table.write([{ Put: { Item: { ...partKey(key, i), text, expires } } }])),
        );
        await table.write([store({ ...answer, body: '' }, parts.length)]);
      },
      async release() {
        await table.write([{ Delete: { Key: key, ...owned } }]);
      },
      async abandon() {
        await table.write([change({ runningUntil: 0 })]);
      },
    };
  }

  async function assembled(key: ItemKey, answer: StoredAnswer, parts: number): Promise<StoredAnswer> {
    if (parts === 0) return answer;
    const items = await Promise.all(Array.from({ length: parts }, (_, i) => table.get(partKey(key, i))));
    return { ...answer, body: items.map((item) => item?.text).join('') };
  }
}

const partKey = ({ pk }: ItemKey, i: number): ItemKey => ({ pk, sk: `PART#${i}` });
