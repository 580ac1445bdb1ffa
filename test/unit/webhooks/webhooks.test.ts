import { describe, expect, it } from 'vitest';
import type { HeaderList } from '../../../lib/webhooks/custom-headers.ts';
import { TestWebhook } from '../../../lib/webhooks/operations.ts';
import { type WebhookRecord, webhookResource } from '../../../lib/webhooks/webhook.ts';
import { PROTOTYPE_NAMES } from '../../support/adversarial.ts';
import { violationsOf } from '../../support/violations.ts';

const created = Date.UTC(2026, 0, 31, 12);
const record: WebhookRecord = {
  projectId: 'prj_1',
  environment: 'live',
  id: 'whk_1',
  url: 'https://example.com/hook',
  events: ['document.changed'],
  description: null,
  secret: 'whsec_0123456789abcdef',
  status: 'enabled',
  createdAt: created,
  updatedAt: created + 1,
};

describe('a webhook as customers see it', () => {
  it('contains only the end of its secret', () => {
    expect(webhookResource(record)).toEqual({
      id: 'whk_1',
      url: 'https://example.com/hook',
      events: ['document.changed'],
      documents: [],
      headers: {},
      description: null,
      max_per_second: null,
      status: 'enabled',
      environment: 'live',
      secret_hint: 'cdef',
      created_at: '2026-01-31T12:00:00.000Z',
      updated_at: '2026-01-31T12:00:00.001Z',
      failing_since: null,
      disabled_at: null,
      disabled_reason: null,
    });
    expect(webhookResource({ ...record, secret: 'x'.repeat(15) }).secret_hint).toBe('');
    expect(webhookResource({ ...record, secret: `${'x'.repeat(12)}last` }).secret_hint).toBe('last');
    expect(webhookResource({ ...record, secret: `${'x'.repeat(12)}😀end` }).secret_hint).toBe('😀end');
    expect(webhookResource({ ...record, secret: '😀'.repeat(15) }).secret_hint).toBe('');
  });

  it('contains its settings with hidden header values, and the reason why it is disabled', () => {
    const headers: HeaderList = [...PROTOTYPE_NAMES, 'X-Key'].map((name) => [name, 'secret']);
    const given = { documents: ['org:*'], description: 'Search' };
    const outage = { disabledAt: created + 3, disabledReason: 'paused', failingSince: created + 2 } as const;
    const resource = webhookResource({ ...record, ...given, maxPerSecond: 5, headers, ...outage, status: 'disabled' });
    expect(Object.entries(resource.headers)).toEqual(headers.map(([name]) => [name, '***']));
    expect(resource).toMatchObject({
      ...given,
      max_per_second: 5,
      status: 'disabled',
      failing_since: '2026-01-31T12:00:00.002Z',
      disabled_at: '2026-01-31T12:00:00.003Z',
      disabled_reason: 'paused',
    });
  });
});

describe('a test event', () => {
  it.each([
    [{}, []],
    [{ type: 'document.deleted' }, []],
    [{ type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'b', more: [] } }, []],
    [{ type: 'document.deleted', data: { document_key: 'a', origin: 'b' } }, ['data.revision is required']],
    [{ data: [] }, ['data must be an object']],
  ])('%j has violations in %j', (body, violations) => {
    expect(violationsOf(TestWebhook, body)).toEqual(violations);
  });
});
