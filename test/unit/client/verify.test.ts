import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ReceivedDelivery, VerificationError, verify } from '../../../lib/client/verify.ts';
import { Secret, signatureHeaders } from '../../../lib/webhooks/signing.ts';

const NOW_SECONDS = Date.parse('2026-01-31T12:00:00.000Z') / 1000;
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW_SECONDS * 1000 }));
afterEach(() => void vi.useRealTimers());

const secretOf = (byte: string): string => `whsec_${Buffer.from(byte.repeat(24)).toString('base64')}`;
const SECRET = secretOf('a');
const BODY = '{"id":"evt_1","type":"document.changed","text":"Füße 😀"}';
const EVENT = JSON.parse(BODY);

/** The signature headers of a delivery, with lowercase names. */
function headersOf({ secret = SECRET, body = BODY, previousSecrets = [] as string[] } = {}): Record<string, string> {
  const signed = signatureHeaders({ secret, previousSecrets, id: 'evt_1', timestampSeconds: NOW_SECONDS, body });
  return Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]));
}
const headers = headersOf();
const namesInCapitals = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value] as const);

/** The event of a delivery, or the message of the error. */
const outcomeOf = (changes: object = {}): Promise<unknown> =>
  verify({ body: BODY, headers, secret: SECRET, ...changes }).catch((error) => {
    expect(error).toBeInstanceOf(VerificationError);
    return error.message;
  });

const MISMATCH = 'No signature matches. Check the secret, and that the body is unchanged';

describe('a body', () => {
  const bytes = new TextEncoder().encode(BODY);
  const larger = new Uint8Array([0, ...bytes, 0]);

  it.each<[string, ReceivedDelivery['body']]>([
    ['text', BODY],
    ['bytes', bytes],
    ['a Buffer', Buffer.from(BODY)],
    ['a part of a larger buffer', larger.subarray(1, -1)],
    ['an ArrayBuffer', bytes.slice().buffer],
    ['a DataView', new DataView(larger.buffer, 1, bytes.length)],
    ['bytes of another realm', runInNewContext('Uint8Array.from(bytes)', { bytes })],
    ['an ArrayBuffer of another realm', runInNewContext('Uint8Array.from(bytes).buffer', { bytes })],
  ])('can be %s', async (_, body) => {
    expect(await outcomeOf({ body })).toEqual(EVENT);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['this object', EVENT],
    ['this object', new ReadableStream()],
    ['this object', new Blob([BODY])],
    ['this array', [...bytes]],
    ['a promise, which needs await', Promise.resolve(BODY)],
  ])('cannot be %s', async (name, body) => {
    expect(await outcomeOf({ body })).toBe(`Pass body as text or bytes, before it is parsed, not ${name}`);
  });

  it('is compared byte by byte', async () => {
    const replaced = '{"type":"\ufffd"}';
    const invalid = Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const signed = headersOf({ body: replaced });
    expect(await outcomeOf({ body: Buffer.from(replaced), headers: signed })).toEqual({ type: '\ufffd' });
    for (const body of [invalid, `\ufeff${replaced}`, Buffer.from(`\ufeff${replaced}`), `${replaced} `])
      expect(await outcomeOf({ body, headers: signed })).toBe(MISMATCH);
    expect(await outcomeOf({ body: '{"type":"\ud800"}', headers: signed })).toBe('The body is not valid Unicode');
  });

  it('must be JSON in UTF-8, also with a correct signature', async () => {
    const sign = (body: Uint8Array) => {
      const hmac = createHmac('sha256', 'secret').update(`evt_1.${NOW_SECONDS}.`).update(body);
      return { ...headers, 'webhook-signature': `v1,${hmac.digest('base64')}` };
    };
    for (const text of ['no JSON', '\ufeff{}', '']) {
      const body = Buffer.from(text);
      const outcome = await outcomeOf({ body, headers: sign(body), secret: 'secret' });
      expect(outcome).toBe('The signed body is not JSON in UTF-8');
    }
    const invalid = Buffer.from([0x22, 0xff, 0x22]);
    expect(await outcomeOf({ body: invalid, headers: sign(invalid), secret: 'secret' })).toMatch('UTF-8');
  });
});

/** `Headers` as other libraries have it: not the global class, and only with some of its methods. */
class OtherHeaders {
  #values = new Map(Object.entries(headers));
  get(name: string) {
    return this.#values.get(name.toLowerCase()) ?? null;
  }
}
class IterableHeaders extends OtherHeaders {
  *[Symbol.iterator]() {
    yield* namesInCapitals;
  }
}

/** The headers that a server of Node.js receives, and its request. */
async function received(): Promise<{ headers: IncomingHttpHeaders; raw: string[] }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const arrived = new Promise<{ headers: IncomingHttpHeaders; raw: string[] }>((resolve) =>
    server.once('request', (request, response) => {
      response.end();
      resolve({ headers: request.headers, raw: request.rawHeaders });
    }),
  );
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}`, { headers: namesInCapitals.map(([name, value]) => [name, value]) });
  server.close();
  return arrived;
}

describe('headers', () => {
  it.each<[string, unknown]>([
    ['Headers', new Headers(headers)],
    ['Headers of another library, with only `get`', new OtherHeaders()],
    ['Headers of another library, with an iterator', new IterableHeaders()],
    ['Headers of another realm', runInNewContext('({ get: (name) => headers[name] ?? null })', { headers })],
    ['a Map', new Map(namesInCapitals)],
    ['pairs', namesInCapitals],
    ['an object', headers],
    ['an object with capitals', Object.fromEntries(namesInCapitals)],
    ['an object with lists', Object.fromEntries(namesInCapitals.map(([name, value]) => [name, [value]]))],
    ['an object without a prototype', Object.assign(Object.create(null), headers)],
    ['a request of Express, which has `get`', Object.assign(new OtherHeaders(), { headers })],
  ])('can be %s', async (_, given) => {
    expect(await outcomeOf({ headers: given })).toEqual(EVENT);
  });

  it('can be those that a server of Node.js receives', async () => {
    const { headers: given, raw } = await received();
    expect(await outcomeOf({ headers: given })).toEqual(EVENT);
    expect(await outcomeOf({ headers: raw })).toMatch(/^Pass headers as .+, not this array$/);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a function', () => ''],
    ['this text', 'webhook-id: evt_1'],
    ['this array', ['webhook-id', 'evt_1']],
    ['this object', new Request('https://example.com', { headers })],
    ['this object', { headers }],
  ])('cannot be %s', async (name, given) => {
    const expected = `Pass headers as the headers of the request, such as request.headers, not ${name}`;
    expect(await outcomeOf({ headers: given })).toBe(expected);
  });

  it.each(Object.keys(headers).filter((name) => name.startsWith('webhook-')))('need %s', async (name) => {
    const { [name]: _, ...others } = headers;
    for (const given of [
      others,
      new Headers(others),
      new Map(Object.entries(others)),
      { ...others, [name]: undefined },
    ])
      expect(await outcomeOf({ headers: given })).toBe(`The header ${name} is missing`);
  });

  it('can have signatures of other versions', async () => {
    const given = { ...headers, 'webhook-signature': `v1a,AAAA v1,AAAA v1,! ${headers['webhook-signature']}` };
    expect(await outcomeOf({ headers: given })).toEqual(EVENT);
    expect(await outcomeOf({ headers: { ...headers, 'webhook-signature': 'v1,!' } })).toBe(MISMATCH);
  });
});

describe('the time of a delivery', () => {
  it.each([
    [-300, 'accepted'],
    [-301, 'rejected'],
    [300, 'accepted'],
    [301, 'rejected'],
  ])('can differ by five minutes: %i s is %s', async (seconds, outcome) => {
    vi.setSystemTime((NOW_SECONDS + seconds) * 1000);
    const expected = outcome === 'accepted' ? EVENT : 'The delivery is older than 300 s, or the clocks differ';
    expect(await outcomeOf()).toEqual(expected);
  });

  it('can differ by another time', async () => {
    vi.setSystemTime((NOW_SECONDS + 10) * 1000);
    expect(await outcomeOf({ toleranceSeconds: 10 })).toEqual(EVENT);
    expect(await outcomeOf({ toleranceSeconds: 9 })).toMatch('older than 9 s');
    expect(await outcomeOf({ toleranceSeconds: 0 })).toMatch('older than 0 s');
  });

  it.each([
    [-1, '-1'],
    [Number.NaN, 'NaN'],
    [null, 'null'],
    ['300', 'this text'],
  ])('has no tolerance of %o', async (toleranceSeconds, name) => {
    expect(await outcomeOf({ toleranceSeconds })).toBe(`Pass toleranceSeconds as a number from 0, not ${name}`);
  });

  it('is a number of seconds', async () => {
    for (const timestamp of ['', 'now', '1e9', '-1', ' 1769860800', '1769860800000'])
      expect(await outcomeOf({ headers: { ...headers, 'webhook-timestamp': timestamp } })).toMatch('older than 300 s');
  });
});

describe('a secret', () => {
  it('can be one of several, on either side of a rotation', async () => {
    const rotated = headersOf({ secret: secretOf('b'), previousSecrets: [SECRET] });
    for (const secret of [SECRET, secretOf('b'), [secretOf('c'), SECRET]])
      expect(await outcomeOf({ headers: rotated, secret })).toEqual(EVENT);
    expect(await outcomeOf({ secret: [secretOf('b'), secretOf('c')] })).toBe(MISMATCH);
  });

  it('can be one that a customer chose', async () => {
    expect(await outcomeOf({ headers: headersOf({ secret: 'my own secret' }), secret: 'my own secret' })).toEqual(
      EVENT,
    );
  });

  it('has the prefix of the service', async () => {
    expect(await outcomeOf({ secret: SECRET.slice(6) })).toBe(
      'No signature matches. Check the secret, which starts with whsec_ if the service generated it, and that the body is unchanged',
    );
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['empty text', ''],
    ['this object', Buffer.from(SECRET)],
    ['an empty array', []],
    ['undefined', [SECRET, undefined]],
    ['empty text', ['', SECRET]],
  ])('cannot be %s', async (name, secret) => {
    expect(await outcomeOf({ secret })).toBe(`Pass secret as the secret of the webhook, not ${name}`);
  });

  // A signature that was made with the few bytes of a damaged secret would be easy to forge.
  const DAMAGED = [
    `"${SECRET}"`,
    `'${SECRET}'`,
    ` ${SECRET}`,
    `${SECRET}\n`,
    `v1,${SECRET}`,
    'whsec_AA==',
    'whsec_!',
    'whsec_',
    'own ',
  ];
  it.each(DAMAGED)('cannot be %j, which the service rejects too', async (secret) => {
    expect(v.is(Secret, secret)).toBe(false);
    const message = await outcomeOf({ secret });
    expect(message).toMatch(/^Pass secret as the service shows it, without .+, not this text$/);
    expect(message).not.toContain('YWFh');
  });
});

it.each([
  ['undefined', undefined],
  ['this text', BODY],
  ['this array', [BODY, headers, SECRET]],
])('verify says what to pass and not %s', async (name, given) => {
  const call = verify(given as unknown as ReceivedDelivery);
  await expect(call).rejects.toThrow(
    new VerificationError(`Pass an object with body, headers and secret, not ${name}`),
  );
});
