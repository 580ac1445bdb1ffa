import { describe, expect, it } from 'vitest';
import { create } from '../../../functions/check-connection.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { ConnectionRecord } from '../../../lib/documents/connections.ts';
import { newConnection, now, recordOf } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';

const record = newConnection({
  connectedAt: now - 600_000,
  lastSeenAt: now - 60_000,
  leaseSeconds: 60,
  expiresAt: now,
  checkAt: now,
});
const { id: connectionId, projectId, environment } = record;
const message = { connectionId, projectId, environment, checkAt: now };

/** Checks a stored connection. The connections `between` replace it, one before each write of the check. */
async function checked(stored: ConnectionRecord | undefined, between: (ConnectionRecord | undefined)[] = []) {
  const delays: number[] = [];
  const waiting = [...between];
  let result: unknown;
  const info = (_: string, fields: Record<string, unknown>) => {
    result = fields.result;
  };
  const log = { info, warn() {}, error() {} };
  const { db, runtime } = memoryBackend({ clock: () => now, log }, ({ name, input }) => {
    if (name === 'SendMessageBatch') {
      for (const { MessageBody, DelaySeconds } of input.Entries) {
        expect(JSON.parse(MessageBody).checkAt).toBe(current()?.expiresAt);
        delays.push(DelaySeconds);
      }
      return {};
    }
    if (name !== 'Get' && waiting.length > 0) set(waiting.shift());
    return undefined;
  });
  const key = itemKey.connection(record, connectionId);
  const current = () => {
    const { writeId: _, ...stored } = db.get(key.pk, key.sk) ?? {};
    return 'id' in stored ? recordOf(stored as unknown as ConnectionRecord) : undefined;
  };
  const set = (to: ConnectionRecord | undefined) =>
    db.execute(
      to
        ? { name: 'Put', input: { TableName: 'table', Item: { ...key, ...to } } }
        : { name: 'Delete', input: { TableName: 'table', Key: key } },
    );
  set(stored);
  const sent = { messageId: '1', body: JSON.stringify(message), eventSource: 'aws:sqs' };
  await create(runtime)({ Records: [sent] } as never, {} as never);
  const events = [...db.items()].filter(({ pk }) => String(pk).startsWith('EVENT#'));
  return { result, delays, lost: events.map(({ type }) => type), current: current() };
}
const renewed = { ...record, lastSeenAt: now - 1, expiresAt: now + 59_400 };

describe('a check', () => {
  it('ends an expired lease and publishes its event', async () => {
    expect(await checked(record)).toEqual({
      result: 'lost',
      delays: [],
      lost: ['connection.lost'],
      current: undefined,
    });
  });

  it('schedules another check for a lease that is renewed while it ends', async () => {
    const current = { ...renewed, checkAt: renewed.expiresAt };
    expect(await checked(record, [renewed])).toEqual({ result: 'open', delays: [60], lost: [], current });
  });

  it('does nothing if the connection was closed before or during the check', async () => {
    const gone = { result: 'gone', delays: [], lost: [], current: undefined };
    expect(await checked(undefined)).toEqual(gone);
    expect(await checked(record, [undefined])).toEqual(gone);
  });

  it('schedules no check if a later one is pending', async () => {
    const expected = { ...renewed, checkAt: now + 1 };
    expect(await checked(expected)).toEqual({ result: 'open', delays: [], lost: [], current: expected });
    expect((await checked({ ...renewed, checkAt: now - 1 })).delays).toEqual([60]);
    expect((await checked(record, [expected])).delays).toEqual([]);
  });
});
