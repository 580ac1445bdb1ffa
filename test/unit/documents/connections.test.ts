import { describe, expect, it } from 'vitest';
import { renewed } from '../../../lib/documents/connections.ts';
import type { Caller } from '../../../lib/http/caller.ts';
import { newConnection, now } from '../../memory/contracts/builders.ts';

const space = { projectId: 'prj_1', environment: 'live' } as const;
const key: Caller = { projectId: 'prj_1', keyId: 'key_1', type: 'live' };
const body = { node_id: 'n', lease_seconds: 60 };
const end = now + 60_000;
const open = newConnection({ id: 'c', connectedAt: now - 5 });

describe('a renewed connection', () => {
  it.each([
    ['needs a check if it is new', undefined, true, end],
    ['keeps a check within its lease', { ...open, checkAt: end }, false, end],
    ['keeps an earlier check, which schedules another one', { ...open, checkAt: now + 1 }, false, now + 1],
    ['needs another check after the last one', { ...open, checkAt: now }, true, end],
    ['needs an earlier check after its lease got shorter', { ...open, checkAt: end + 1 }, true, end],
    ['needs its own check if it replaces that of another id', { ...open, id: 'read#c', checkAt: end }, true, end],
  ])('%s', (_, before, needsCheck, checkAt) => {
    const made = renewed(before, key, { ...space, id: 'c' }, body, now);
    expect(made).toMatchObject({ needsCheck, record: { checkAt, expiresAt: end } });
    expect(made.record.connectedAt).toBe(before?.connectedAt ?? now);
  });

  it.each([
    ['of the request', undefined, 'of request', 'of request'],
    ['of the token', 'of token', undefined, 'of token'],
    ['of nobody', undefined, undefined, undefined],
  ])('has the user %s', (_, ofToken, user, expected) => {
    const grant = { tokenId: 'tok_1', environment: 'live', documents: ['*'], permissions: ['write' as const] } as const;
    const token = { ...grant, documents: ['*'], permissions: [...grant.permissions], user: ofToken };
    const { record } = renewed(
      undefined,
      { ...key, type: 'token', token },
      { ...space, id: 'c' },
      { ...body, user },
      now,
    );
    expect(record.user).toBe(expected);
  });
});
