import { randomUUID } from 'node:crypto';
import type { DeleteCommandInput, PutCommandInput, UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { domainError, isWriteConflict, type Rejected, rejectedWrites } from './domain-errors.ts';
import type { Item } from './items.ts';
import type { Runtime } from './runtime.ts';

type Unnamed<Input> = Omit<Input, 'TableName'>;
type Conditional = Unnamed<DeleteCommandInput> & { ConditionExpression: string };
export type Updating = { Update: Unnamed<UpdateCommandInput> };

/** A write of one item, without the table name. */
export type Write =
  | { Put: Unnamed<PutCommandInput> }
  | Updating
  | { Delete: Conditional }
  | { ConditionCheck: Conditional };

/** The maximum tries of a write with conflicts, and the longest wait between two tries. */
const CONFLICT_TRIES = 6;
const CONFLICT_WAIT_MS = 50;

/**
 * Every conditional write leaves a random id in the item. When the condition is false and the stored item has that id, the write
 * already succeeded, but its response was lost and the SDK repeated it.
 */
const WRITE_ID = 'writeId';

/** 62 random bits are enough, because only the writes of one item must differ, and AWS bills each byte of an item. */
const newWriteId = (): string => randomUUID().slice(19);

/**
 * Performs writes. `send` gets them with their write id. Returns the writes whose condition was false, and none after a success,
 * also if the response to an earlier try was lost. Conflicts are retried with jitter and then thrown.
 */
export async function carryOut(
  writes: readonly Write[],
  send: (marked: Write[]) => Promise<unknown>,
  pause: Pause,
): Promise<Rejected[]> {
  const writeId = newWriteId();
  const marked = writes.map((write) => withWriteId(write, writeId));
  for (let tries = 1; ; tries++) {
    try {
      await send(marked);
      return [];
    } catch (error) {
      const rejected = rejectedWrites(error);
      if (rejected.some(({ item }) => item?.[WRITE_ID] === writeId)) return [];
      if (rejected.length > 0) return rejected;
      if (tries === CONFLICT_TRIES || !isWriteConflict(error)) throw domainError(error);
      await pause(tries);
    }
  }
}

function withWriteId(write: Write, writeId: string): Write {
  const ReturnValuesOnConditionCheckFailure = 'ALL_OLD';
  if ('Put' in write && write.Put.ConditionExpression) {
    const Item = { ...write.Put.Item, [WRITE_ID]: writeId };
    return { Put: { ...write.Put, Item, ReturnValuesOnConditionCheckFailure } };
  }
  if ('Update' in write && write.Update.ConditionExpression) {
    const { UpdateExpression = '', ExpressionAttributeNames, ExpressionAttributeValues } = write.Update;
    const mark = `SET #${WRITE_ID} = :${WRITE_ID}`;
    return {
      Update: {
        ...write.Update,
        UpdateExpression: UpdateExpression.startsWith('SET ')
          ? `${mark}, ${UpdateExpression.slice('SET '.length)}`
          : `${mark} ${UpdateExpression}`,
        ExpressionAttributeNames: { ...ExpressionAttributeNames, [`#${WRITE_ID}`]: WRITE_ID },
        ExpressionAttributeValues: { ...ExpressionAttributeValues, [`:${WRITE_ID}`]: writeId },
        ReturnValuesOnConditionCheckFailure,
      },
    };
  }
  return write;
}

/** Removes the write id from an item that was just read. It changes the item itself, because copies of thousands of items would take longer than the rest. */
export function withoutWriteId(item: Item): Item {
  delete item[WRITE_ID];
  return item;
}

/** Waits a random time, longer after each try. */
export type Pause = (tries: number) => Promise<void>;

export const pauseAtRandom =
  ({ wait, random }: Pick<Runtime, 'wait' | 'random'>): Pause =>
  (tries) =>
    wait(((random(1)[0] ?? 0) / 256) * CONFLICT_WAIT_MS * 2 ** Math.min(tries, 4));
