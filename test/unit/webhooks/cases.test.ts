import { describe, expect, it } from 'vitest';
import { isPublicAddress, urlViolations } from '../../../lib/webhooks/endpoint-url.ts';
import { serviceSignature, standardSignature } from '../../../lib/webhooks/signature.ts';
import signatures from '../../cases/signatures.json' with { type: 'json' };
import targets from '../../cases/targets.json' with { type: 'json' };

describe('X-Service-Signature', () => {
  it.each(signatures.x_service_signature)('is the published one for $secret', ({ secret, body, header }) => {
    expect(serviceSignature(secret, body)).toBe(header);
  });
});

describe('webhook-signature', () => {
  it.each(signatures.webhook_signature)('is the published one for $id', ({ secret, id, timestamp, body, header }) => {
    expect(standardSignature(secret, id, timestamp, body)).toBe(header);
  });
});

describe('an endpoint URL', () => {
  const urlOf = (address: string) => `https://${address.includes(':') ? `[${address}]` : address}/hook`;

  it.each(targets.refused)('%s is refused', (address) => {
    expect(isPublicAddress(address)).toBe(false);
    expect(urlViolations(urlOf(address), 'public')).toEqual(['must point to a public host']);
  });

  it.each(targets.allowed)('%s is allowed', (address) => {
    expect(isPublicAddress(address)).toBe(true);
    expect(urlViolations(urlOf(address), 'public')).toEqual([]);
  });

  it.each([
    ['http://example.com/hook', 'must be an https: URL'],
    ['https://user:secret@example.com/', 'must not contain credentials'],
    ['https://example.com/#part', 'must not contain a fragment'],
    ['https://example.com/#', 'must not contain a fragment'],
    ['/hook', 'must be an absolute https: URL'],
    ['https://localhost/hook', 'must point to a public host'],
    ['https://localhost./hook', 'must point to a public host'],
    ['https://db.internal/hook', 'must point to a public host'],
    ['https://intranet/hook', 'must point to a public host'],
    ['https://0x7f000001/hook', 'must point to a public host'],
    ['https://2130706433/hook', 'must point to a public host'],
    ['https://127.1/hook', 'must point to a public host'],
    ['https://[64:ff9b:1::7f00:1]/hook', 'must point to a public host'],
    ['https://[3fff::1]/hook', 'must point to a public host'],
    ['https://[::7f00:1]/hook', 'must point to a public host'],
    [`https://example.com/${'a'.repeat(2029)}`, 'must have at most 2048 characters'],
  ])('%s %s', (url, fault) => {
    expect(urlViolations(url, 'public')).toEqual([fault]);
  });
});
