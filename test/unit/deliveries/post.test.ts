import { describe, expect, it } from 'vitest';
import {
  bounded,
  derivedHeaders,
  KEPT_HEADER_BYTES,
  keptHeaders,
  postOf,
  withOrdinary,
} from '../../../lib/deliveries/attempt.ts';
import { deliveryResource } from '../../../lib/deliveries/record.ts';
import type { HeaderList } from '../../../lib/webhooks/custom-headers.ts';
import { signatureHeaders } from '../../../lib/webhooks/signing.ts';
import { PROTOTYPE_NAMES } from '../../support/adversarial.ts';
import { attempt, event, message, now, record, webhook } from './builders.ts';

/** The headers of every attempt to deliver `evt_1`. 999 ms round down to 0 s. */
const described = {
  Accept: '*/*',
  'Accept-Encoding': 'identity',
  'Content-Type': 'application/json',
  'User-Agent': 'DocumentSyncService/1',
  'X-Service-Event-Id': 'evt_1',
  'X-Service-Event-Type': 'document.deleted',
  'X-Service-Attempt': '2',
  'webhook-id': 'evt_1',
  'webhook-timestamp': String(now / 1000),
};
const second = message({ attempt: 2 });
/** The request of the second attempt, slightly after the full second. */
const posted = (given = webhook(), of = event()) => postOf(second.attempt, given, of, now + 999);

describe('the request of an attempt', () => {
  const body = '{"b":1.0,"a":12345678901234567890,"a":"\\u00fc"}';
  const signed = (secret: string, previousSecrets: string[] = []) =>
    signatureHeaders({ secret, previousSecrets, id: 'evt_1', timestampSeconds: now / 1000, body });

  it('contains the bytes of the stored body, which parsing would change, with its description and signature', () => {
    expect(posted(webhook(), event({ body }))).toEqual({
      url: 'https://example.com/',
      body,
      headers: { ...described, ...signed('secret') },
    });
  });

  it('contains every header of the webhook by its name', () => {
    const headers: HeaderList = PROTOTYPE_NAMES.map((name) => [name, 'own']);
    const sent = posted(webhook({ headers })).headers;
    for (const name of PROTOTYPE_NAMES)
      expect([name, Object.getOwnPropertyDescriptor(sent, name)?.value]).toEqual([name, 'own']);
  });

  it('contains the headers of the webhook, which replace no service header', () => {
    const own = Object.entries({ Authorization: 'Bearer 1', 'Content-Type': 'text/plain' });
    const { headers } = posted(webhook({ headers: own }), event({ body }));
    expect(headers).toEqual({ Authorization: 'Bearer 1', ...described, ...signed('secret') });
  });

  it('contains the Accept of the webhook in any case instead of the default, also in the log', () => {
    const own = webhook({ headers: [['aCCept', 'application/json']] });
    const { headers } = posted(own);
    expect(Object.entries(headers).filter(([name]) => /^accept/i.test(name))).toEqual([
      ['Accept-Encoding', 'identity'],
      ['aCCept', 'application/json'],
    ]);
    const logged = { ...record(), attempts: [attempt({ sent: keptHeaders({ headers }, own) })] };
    expect(Object.entries(deliveryResource(logged).attempts[0]?.request_headers ?? {})).toEqual(
      expect.arrayContaining([
        ['Accept-Encoding', 'identity'],
        ['aCCept', '***'],
      ]),
    );
    expect(deliveryResource(logged).attempts[0]?.request_headers).not.toHaveProperty('Accept');
  });

  it('is also signed with a previous secret until it expires', () => {
    const rotated = (until: number) => webhook({ previousSecrets: [{ secret: 'old', until }] });
    expect(posted(rotated(now + 1000), event({ body })).headers).toEqual({
      ...described,
      ...signed('secret', ['old']),
    });
    expect(posted(rotated(now + 999), event({ body })).headers).toEqual({ ...described, ...signed('secret') });
  });
});

describe('the stored headers of an attempt', () => {
  const headers: HeaderList = [['Authorization', 'Bearer 1']];
  const rotated = webhook({ headers, previousSecrets: [{ secret: 'old', until: now + 1000 }] });

  it('contain the signatures and the names of custom headers', () => {
    const post = posted(rotated);
    const { 'X-Service-Signature': current, 'X-Service-Signature-Previous': previous } = post.headers;
    expect(keptHeaders(post, rotated)).toEqual([
      ['X-Service-Signature', current],
      ['X-Service-Signature-Previous', previous],
      ['webhook-signature', post.headers['webhook-signature']],
      ['Authorization', '***'],
    ]);
    expect(keptHeaders(posted(), webhook()).map(([name]) => name)).toEqual([
      'X-Service-Signature',
      'webhook-signature',
    ]);
  });

  it('have at most 1 KiB and start with the signatures', () => {
    const long = webhook({
      headers: [
        ['a', 'x'],
        [`X-${'y'.repeat(KEPT_HEADER_BYTES)}`, 'x'],
      ],
    });
    expect(keptHeaders(posted(long), long).map(([name]) => name)).toEqual([
      'X-Service-Signature',
      'webhook-signature',
      'a',
    ]);
  });

  it('determine all other headers', () => {
    for (const test of [true, false, undefined]) {
      const post = posted(rotated, event({ webhookId: test ? 'whk_1' : undefined }));
      const delivery = { eventId: 'evt_1', eventType: 'document.deleted', test } as const;
      const derived = derivedHeaders(delivery, { number: 2, at: now + 999 });
      const kept = Object.fromEntries([...keptHeaders(post, rotated), ...headers]);
      expect(withOrdinary({ ...derived, ...kept })).toEqual(post.headers);
    }
  });
});

describe('stored response headers', () => {
  const LINE = ': \r\n'.length;

  it('have at most 1 KiB, including line breaks', () => {
    const full = ['a', 'x'.repeat(KEPT_HEADER_BYTES - 1 - LINE)] as const;
    expect(bounded([full])).toEqual([full]);
    expect(bounded([['a', `${full[1]}x`]])).toEqual([]);
    const half = 'é'.repeat(KEPT_HEADER_BYTES / 4 - LINE); // two bytes each
    const both = [
      ['aaaa', half],
      ['bbbb', half],
    ] as const;
    expect(bounded([...both, ['c', '']])).toEqual(both);
  });

  it('end before the first header that does not fit, and are joined by name', () => {
    const given = { a: '1', b: '2', long: 'x'.repeat(KEPT_HEADER_BYTES), c: '3' };
    expect(bounded([['b', '0'], ...Object.entries(given)])).toEqual([
      ['b', '0, 2'],
      ['a', '1'],
    ]);
  });

  it('are printable', () => {
    expect(bounded([['a', 'x\u202ey\u0000']])).toEqual([['a', 'xy']]);
  });
});
