import { createHash, randomUUID } from 'node:crypto';
import {
  type FirstRun,
  type Idempotency,
  type IdempotencyRecord,
  meetRecord,
  REPLAY_MS,
  RUNNING_MS,
  type StoredAnswer,
} from '../idempotency.ts';
import type { Clock } from './sources.ts';
import { type ItemKey, itemKey, setting, type Table, timeToLive, type Write } from './table.ts';

/** Answers over this are stored in parts: an item may have 400 KB. */
const PART_LENGTH = 90_000;

type StoredRecord = IdempotencyRecord & { parts?: number };

/** Idempotency records in the table, one per space and key. */
export function idempotencyRecords(table: Table, clock: Clock): Idempotency {
  return {
    async begin({ space }, key, fingerprint) {
      const item = itemKey.idempotency(space, createHash('sha256').update(key).digest('base64url'));
      for (;;) {
        const now = clock();
        const owner = randomUUID();
        if (await take(item, fingerprint, owner, now)) return firstRun(item, owner, now + REPLAY_MS);
        const record = (await table.get(item)) as StoredRecord | undefined;
        const met = record && record.expiresAt > now ? meetRecord(record, fingerprint, now) : null;
        if (met) return 'status' in met ? await assembled(item, met, record?.parts ?? 0) : met;
      }
    },
  };

  // New, or over, or its run is dead.
  async function take(key: ItemKey, fingerprint: string, owner: string, now: number): Promise<boolean> {
    const record = { fingerprint, owner, expiresAt: now + REPLAY_MS, runningUntil: now + RUNNING_MS };
    const dead = 'attribute_not_exists(answer) AND runningUntil <= :now AND fingerprint = :fingerprint';
    const put: Write = {
      Put: {
        Item: { ...key, ...record, expires: timeToLive(record.expiresAt) },
        ConditionExpression: `attribute_not_exists(pk) OR expiresAt <= :now OR (${dead})`,
        ExpressionAttributeValues: { ':now': now, ':fingerprint': fingerprint },
      },
    };
    return (await table.write([put])).length === 0;
  }

  function firstRun(key: ItemKey, owner: string, expiresAt: number): FirstRun {
    const store = (answer: StoredAnswer, parts: number): Write => {
      const update = setting({ answer, parts });
      const ExpressionAttributeValues = { ...update.ExpressionAttributeValues, ':owner': owner };
      return {
        Update: {
          Key: key,
          ...update,
          ExpressionAttributeValues,
          ConditionExpression: '#owner = :owner',
          ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#owner': 'owner' },
        },
      };
    };
    return {
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
        const condition = { ConditionExpression: '#owner = :owner', ExpressionAttributeNames: { '#owner': 'owner' } };
        await table.write([{ Delete: { Key: key, ...condition, ExpressionAttributeValues: { ':owner': owner } } }]);
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
