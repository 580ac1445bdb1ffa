import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { serviceSignature, signatureHeaders, standardSignature } from '../../../lib/webhooks/signature.ts';
import published from '../../cases/signatures.json' with { type: 'json' };

const secretOf = (fill: string) => `whsec_${Buffer.from(fill.repeat(32)).toString('base64')}`;
const [SECRET, OLD, OLDER] = [secretOf('a'), secretOf('b'), secretOf('c')] as const;
const body = '{"n":1.0}';
const timestampSeconds = Math.floor(Date.now() / 1000);
const signing = { secret: SECRET, id: 'evt_1', timestampSeconds, body };

describe('the signature headers of an attempt', () => {
  it('contain one signature per scheme', () => {
    expect(signatureHeaders(signing)).toEqual({
      'X-Service-Signature': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': standardSignature(SECRET, 'evt_1', timestampSeconds, body),
    });
  });

  it('contain a signature by every valid secret, and one header for the newest previous secret', () => {
    const headers = signatureHeaders({ ...signing, previousSecrets: [OLD, OLDER] });
    expect(headers['X-Service-Signature']).toBe(serviceSignature(SECRET, body));
    expect(headers['X-Service-Signature-Previous']).toBe(serviceSignature(OLD, body));
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(3);
    for (const secret of [SECRET, OLD, OLDER]) expect(new Webhook(secret).verify(body, headers)).toEqual({ n: 1 });
    expect(() => new Webhook(secretOf('d')).verify(body, headers)).toThrow();
  });
});

describe('a secret of the customer', () => {
  it.each(['any text', 'abcdefABCD', 'WHSEC_QQ=='])('signs with its text: %s', (secret) => {
    const expected = createHmac('sha256', secret).update(`evt_1.${timestampSeconds}.${body}`).digest('base64');
    expect(standardSignature(secret, 'evt_1', timestampSeconds, body)).toBe(`v1,${expected}`);
  });
});

describe('a published signature', () => {
  it.each(published.x_service_signature)('X-Service-Signature is reproduced for $secret', ({
    secret,
    body,
    header,
  }) => {
    expect(serviceSignature(secret, body)).toBe(header);
  });

  it.each(published.webhook_signature)('webhook-signature is reproduced for $id', (one) => {
    expect(standardSignature(one.secret, one.id, one.timestamp, one.body)).toBe(one.header);
  });
});
