import { describe, expect, it } from 'vitest';
import type { HeaderList } from '../../../lib/webhooks/custom-headers.ts';
import { webhookResource } from '../../../lib/webhooks/webhook.ts';
import { PROTOTYPE_NAMES } from '../../support/adversarial.ts';
import { now, webhook } from '../deliveries/builders.ts';

describe('a webhook as customers see it', () => {
  const at = (ms: number) => new Date(now + ms).toISOString();

  it('has null for settings and states that are absent', () => {
    expect(webhookResource(webhook({ updatedAt: now + 1 }))).toEqual({
      ...{ id: 'whk_1', url: 'https://example.com/', events: ['document.deleted'], documents: [], headers: {} },
      ...{ description: null, max_per_second: null, status: 'enabled', environment: 'live', secret_hint: '' },
      ...{ created_at: at(0), updated_at: at(1), failing_since: null, disabled_at: null, disabled_reason: null },
    });
  });

  it('contains its settings with hidden header values, and the reason why it is disabled', () => {
    const headers: HeaderList = [...PROTOTYPE_NAMES, 'X-Key'].map((name) => [name, 'secret']);
    const given = { documents: ['org:*'], description: 'Search' };
    const outage = { disabledAt: now + 3, disabledReason: 'paused', failingSince: now + 2 } as const;
    const resource = webhookResource(webhook({ ...given, status: 'disabled', maxPerSecond: 5, headers, ...outage }));
    expect(Object.entries(resource.headers)).toEqual(headers.map(([name]) => [name, '***']));
    const state = { status: 'disabled', failing_since: at(2), disabled_at: at(3), disabled_reason: 'paused' };
    expect(resource).toMatchObject({ ...given, max_per_second: 5, ...state });
  });

  it.each([
    ['x'.repeat(15), ''],
    [`${'x'.repeat(12)}last`, 'last'],
    [`${'x'.repeat(12)}😀end`, '😀end'],
    ['😀'.repeat(15), ''],
  ])('contains only the end of a secret that is long enough: %s', (secret, hint) => {
    expect(webhookResource(webhook({ secret })).secret_hint).toBe(hint);
  });
});
