import { describe, expect, it } from 'vitest';
import {
  CheckMessage,
  ConnectionId,
  connectionResource,
  RenewConnection,
  storedConnectionId,
} from '../../../lib/documents/connections.ts';
import { check } from '../../../lib/schema.ts';
import { newConnection } from '../../memory/contracts/builders.ts';
import { violationsOf } from '../../support/violations.ts';

const opened = Date.UTC(2026, 0, 31, 12);
const times = { connectedAt: opened, lastSeenAt: opened + 1000, expiresAt: opened + 61_000 };
const record = newConnection({ id: 'laptop', nodeId: 'n', leaseSeconds: 60, ...times });

describe('a lease', () => {
  it('lasts 5 minutes by default', () => {
    expect(check(RenewConnection, { node_id: 'n' })).toEqual({ value: { node_id: 'n', lease_seconds: 300 } });
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
