import { describe, expect, it } from 'vitest';
import { derivedHeaders } from '../../../lib/deliveries/attempt.ts';
import { deliveryEntry, deliveryResource } from '../../../lib/deliveries/record.ts';
import { attempt, now, record } from './builders.ts';

const at = new Date(now).toISOString();
const sent = { 'X-Service-Signature': 'sha256=…' };
const stored = record({
  documentKey: 'contract',
  test: true,
  nextAttemptAt: now,
  attempts: [
    attempt({
      url: 'https://old.example/',
      sent: Object.entries(sent),
      headers: [['server', 'nginx']],
      excerpt: 'busy',
    }),
    attempt({ number: 2, url: 'https://example.com/', statusCode: null }),
  ],
});
const first = { number: 1, trigger: 'schedule', at, status_code: 500, error: 'status_not_2xx', duration_ms: 10 };
const second = { ...first, number: 2, status_code: null, response_excerpt: null };
const resource = {
  webhook_id: 'whk_1',
  event_id: 'evt_1',
  event_type: 'document.deleted',
  document_key: 'contract',
  url: 'https://example.com/',
  test: true,
  status: 'retrying',
  next_attempt_at: at,
  created_at: at,
};
const none = { url: null, request_headers: null, response_headers: null, response_excerpt: null };

describe('a delivery', () => {
  it('contains the URL, the request and the response of each attempt', () => {
    const request_headers = { ...derivedHeaders(stored, { number: 1, at: now }), ...sent };
    const shown = {
      ...first,
      url: 'https://old.example/',
      request_headers,
      response_headers: { server: 'nginx' },
      response_excerpt: 'busy',
    };
    expect(deliveryResource(stored)).toEqual({
      ...resource,
      attempts: [shown, { ...second, ...none, url: 'https://example.com/' }],
    });
    expect(request_headers).toMatchObject({ 'X-Service-Test': 'true', 'X-Service-Event-Id': 'evt_1' });
  });

  it('omits the content of attempts in lists, except for the last URL', () => {
    expect(deliveryEntry(stored)).toEqual({
      ...resource,
      attempts: [
        { ...first, ...none },
        { ...second, ...none },
      ],
    });
  });

  it('has null for missing members', () => {
    const nothing = { document_key: null, url: null, test: false, next_attempt_at: null, attempts: [] };
    expect(deliveryResource(record())).toEqual({ ...resource, ...nothing });
  });
});
