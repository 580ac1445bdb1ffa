import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  generateSecret,
  RotateSecret,
  rotated,
  serviceSignature,
  signatureHeaders,
  standardSignature,
} from '../../../lib/webhooks/signing.ts';
import { webhookData } from '../../../lib/webhooks/webhook.ts';
import published from '../../cases/signatures.json' with { type: 'json' };
import { violationsOf } from '../../support/violations.ts';
import { webhook } from '../deliveries/builders.ts';

const secretOf = (fill: string) => `whsec_${Buffer.from(fill.repeat(32)).toString('base64')}`;
const [SECRET, OLD, OLDER] = [secretOf('a'), secretOf('b'), secretOf('c')] as const;
const body = '{"n":1.0}';
const timestampSeconds = Math.floor(Date.now() / 1000);
const signing = { secret: SECRET, id: 'evt_1', timestampSeconds, body };

it('the signature headers of an attempt contain a signature by every valid secret, and one header for the newest previous secret', () => {
  const headers = signatureHeaders({ ...signing, previousSecrets: [OLD, OLDER] });
  expect(headers['X-Service-Signature']).toBe(serviceSignature(SECRET, body));
  expect(headers['X-Service-Signature-Previous']).toBe(serviceSignature(OLD, body));
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(3);
  for (const secret of [SECRET, OLD, OLDER]) expect(new Webhook(secret).verify(body, headers)).toEqual({ n: 1 });
  expect(() => new Webhook(secretOf('d')).verify(body, headers)).toThrow();
});

it.each(['any text', 'abcdefABCD', 'WHSEC_QQ=='])('a secret of the customer signs with its text: %s', (secret) => {
  const expected = createHmac('sha256', secret).update(`evt_1.${timestampSeconds}.${body}`).digest('base64');
  expect(standardSignature(secret, 'evt_1', timestampSeconds, body)).toBe(`v1,${expected}`);
});

describe('a rotation of a secret', () => {
  const DAY_MS = 24 * 60 * 60 * 1000;
  const now = 1_000_000_000;
  const until = (ms: number) => ({ secret: OLD, until: ms });
  const signing = (count: number) => Array.from({ length: count }, (_, i) => until(now + 1 + i));
  const replaced = { secret: SECRET, until: now + DAY_MS };
  const rotation = { newSecret: OLDER, graceSeconds: DAY_MS / 1000 };

  it.each([
    ['adds the replaced secret for 24 hours', undefined, [replaced]],
    ['keeps old secrets that still sign, behind it', [until(now + 1)], [replaced, until(now + 1)]],
    ['drops old secrets that do not sign anymore', [until(now + 1), until(now)], [replaced, until(now + 1)]],
    ['has room for a fifth old secret', signing(4), [replaced, ...signing(4)]],
    ['has room when one of five does not sign anymore', [...signing(4), until(now)], [replaced, ...signing(4)]],
  ])('%s', (_, previousSecrets, expected) => {
    const change = { secret: OLDER, previousSecrets: expected };
    expect(rotated({ secret: SECRET, previousSecrets }, rotation, now)).toEqual({ outcome: 'rotated', change });
  });

  it.each([
    ['one stops', 1, rotation.graceSeconds],
    ['one stops, also with a shorter grace', 120_000, 60],
  ])('is not possible while five old secrets sign, until the first %s', (_, firstMs, graceSeconds) => {
    const previousSecrets = [...Array(4).fill(until(now + DAY_MS)), until(now + firstMs)];
    const full = { outcome: 'full', freeAt: now + firstMs, max: 5 };
    expect(rotated({ secret: SECRET, previousSecrets }, { ...rotation, graceSeconds }, now)).toEqual(full);
  });

  it('lets no old secret sign longer than the grace', () => {
    const previousSecrets = [until(now + DAY_MS), until(now + 1)];
    const { change } = rotated({ secret: SECRET, previousSecrets }, { ...rotation, graceSeconds: 60 }, now) as never;
    const end = now + 60_000;
    expect(change).toEqual({
      secret: OLDER,
      previousSecrets: [{ ...replaced, until: end }, until(end), until(now + 1)],
    });
  });

  it('ends all old secrets without a grace, also while five sign', () => {
    const change = { secret: OLDER, previousSecrets: [] };
    const leaked = { secret: SECRET, previousSecrets: signing(5) };
    expect(rotated(leaked, { ...rotation, graceSeconds: 0 }, now)).toEqual({ outcome: 'rotated', change });
  });

  it('is not possible to the current secret, which would end or extend its grace', () => {
    expect(rotated({ secret: OLDER }, rotation, now)).toEqual({ outcome: 'current' });
  });
});

describe('a published signature', () => {
  it.each(published.x_service_signature)('X-Service-Signature is reproduced for $secret', (one) => {
    expect(serviceSignature(one.secret, one.body)).toBe(one.header);
  });

  it.each(published.webhook_signature)('webhook-signature is reproduced for $id', (one) => {
    expect(standardSignature(one.secret, one.id, one.timestamp, one.body)).toBe(one.header);
  });
});

describe('a secret', () => {
  const violations = (secret: string) => violationsOf(RotateSecret, { secret });
  const ofBytes = (count: number) => `whsec_${Buffer.alloc(count, 251).toString('base64')}`;

  it.each([
    'x',
    'whsec',
    'WHSEC_',
    'my own secret',
    ...[16, 17, 18, 24, 32, 64].map(ofBytes),
  ])('may be %s', (secret) => {
    expect(violations(secret)).toEqual([]);
    if (secret.startsWith('whsec_')) expect(() => new Webhook(secret)).not.toThrow();
  });

  it.each([
    'whsec_',
    'whsec_A',
    'whsec_AAAA',
    'whsec_no base64 but long enough for it',
    ofBytes(15),
    ofBytes(16).replaceAll('=', ''),
    ofBytes(18).replace('+', '-'),
    `${ofBytes(18)}=`,
  ])('is rejected because endpoints would not decode 16 bytes: %s', (secret) => {
    expect(violations(secret)).toEqual(['secret must have the base64 of at least 16 bytes after whsec_']);
  });

  it.each([
    [' whsec', 'must not have white space at its ends'],
    ['secret\u00a0', 'must not have white space at its ends'],
    [`"${ofBytes(16)}"`, 'must have whsec_ only at its start'],
    [`v1,${ofBytes(16)}`, 'must have whsec_ only at its start'],
  ])('is rejected because a variable or an endpoint would change it: %s', (secret, violation) => {
    expect(violations(secret)).toEqual([`secret ${violation}`]);
  });

  it('is 32 random bytes in the format of Standard Webhooks', () => {
    const random = (bytes: number) => new Uint8Array(bytes).fill(255);
    expect(generateSecret(random)).toBe(`whsec_${'/'.repeat(42)}8=`);
  });

  it.each([
    ['x'.repeat(15), ''],
    [`${'x'.repeat(12)}last`, 'last'],
    [`${'x'.repeat(12)}😀end`, '😀end'],
    ['😀'.repeat(15), ''],
  ])('is shown only by its end, and only if it is long enough: %s', (secret, hint) => {
    expect(webhookData(webhook({ secret })).secret_hint).toBe(hint);
  });
});
