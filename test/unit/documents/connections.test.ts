import { describe, expect, it } from 'vitest';
import {
  CheckMessage,
  ConnectionId,
  connectionResource,
  NodeId,
  RenewConnection,
  storedConnectionId,
} from '../../../lib/documents/connections.ts';
import { check } from '../../../lib/schema.ts';
import { newConnection } from '../../memory/contracts/builders.ts';
import { violationsOf } from '../../support/violations.ts';

const opened = Date.UTC(2026, 0, 31, 12);
const times = { connectedAt: opened, lastSeenAt: opened + 1000, expiresAt: opened + 61_000 };
const record = newConnection({ id: 'laptop', nodeId: 'n', leaseSeconds: 60, ...times });

it.each<[string, number]>([
  ['A-z_0', 0],
  ['x'.repeat(64), 0],
  ['x'.repeat(65), 1],
  ['', 1],
  ['a:b', 1],
  ['-\n', 1],
])('accepts as the id of a connection 1 to 64 characters of a path: %j', (id, count) => {
  expect(violationsOf(ConnectionId, id)).toHaveLength(count);
});

it.each<[unknown, string[]]>([
  ["Ann's laptop ~", []],
  ['x'.repeat(64), []],
  ['', ['body must not be empty']],
  ['x'.repeat(65), ['body must have at most 64 characters']],
  ['é', ['body must be printable ASCII']],
  ['a\n', ['body must be printable ASCII']],
  ['\u007f', ['body must be printable ASCII']],
])('accepts as the name of a node printable ASCII: %j', (name, violations) => {
  expect(violationsOf(NodeId, name)).toEqual(violations);
});

describe('a lease', () => {
  it('lasts 10 seconds to 15 minutes, by default 5 minutes', () => {
    const of = (lease_seconds: unknown) => violationsOf(RenewConnection, { node_id: 'n', lease_seconds });
    for (const seconds of [10, 900]) expect(of(seconds)).toEqual([]);
    for (const seconds of [9, 901, 10.5, '60', null])
      expect(of(seconds)).toEqual(['lease_seconds must be an integer from 10 to 900']);
    expect(check(RenewConnection, { node_id: 'n' })).toEqual({ value: { node_id: 'n', lease_seconds: 300 } });
    expect(violationsOf(RenewConnection, {})).toEqual(['node_id is required']);
  });
});

describe('the document and the user of a connection', () => {
  it.each([
    [{ document_key: 1 }, false],
    [{ document_key: null }, false],
    [{ document_key: 'not a key' }, false],
    [{ document_key: 'a:b', user: 'x'.repeat(128) }, true],
    [{ user: 'x'.repeat(129) }, false],
    [{ user: '' }, false],
    [{ user: 'a\nb' }, false],
  ])('%j are valid: %s', (members, isValid) => {
    expect(violationsOf(RenewConnection, { node_id: 'n', ...members })).toHaveLength(isValid ? 0 : 1);
  });
});

describe('a connection', () => {
  const times = { connected_at: '2026-01-31T12:00:00.000Z', last_seen_at: '2026-01-31T12:00:01.000Z' };

  it('contains its lease, but not its credential', () => {
    const named = { document_key: null, user: null };
    const shown = { connection_id: 'laptop', node_id: 'n', ...named, lease_seconds: 60, ...times };
    expect(connectionResource(record)).toEqual({ ...shown, expires_at: '2026-01-31T12:01:01.000Z' });
  });

  it('is stored under an internal id for a credential without write', () => {
    const id = storedConnectionId('laptop', false);
    expect([storedConnectionId('laptop', true), 'value' in check(ConnectionId, id)]).toEqual(['laptop', false]);
    expect(connectionResource({ ...record, id }).connection_id).toBe('laptop');
  });

  it('is checked for a message with its id and space', () => {
    const message = { connectionId: 'laptop', projectId: 'prj_1', environment: 'sandbox' };
    expect(violationsOf(CheckMessage, message)).toEqual([]);
    expect(violationsOf(CheckMessage, { ...message, environment: 'other' })).toHaveLength(1);
    expect(violationsOf(CheckMessage, {})).toHaveLength(3);
  });
});
