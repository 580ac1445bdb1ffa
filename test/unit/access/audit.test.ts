import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { AuditEntryResource, auditResource } from '../../../lib/access/audit.ts';

describe('an entry of the audit log', () => {
  const entry = { id: 'aud_1', actor: 'key_1', address: '192.0.2.1', action: 'key.created', target: 'key_2' } as const;
  const record = { ...entry, projectId: 'prj_1', at: 0, detail: { type: 'live' } };

  it.each([
    ['who did what, when, from where', {}],
    ['a change outside the project', { actor: null, address: null }],
  ])('contains %s without the secret', (_, overrides) => {
    const resource = auditResource({ ...record, ...overrides });
    expect(resource).toEqual({ ...entry, at: '1970-01-01T00:00:00.000Z', detail: { type: 'live' }, ...overrides });
    expect(v.is(AuditEntryResource, resource)).toBe(true);
  });
});
