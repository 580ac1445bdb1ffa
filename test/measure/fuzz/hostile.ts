import { TEXTS } from '../../support/adversarial.ts';

/** Values that often break programs, in addition to the texts of `adversarial.ts`. */

const LENGTHS = [65, 257, 513, 2049, 4000];
const TIMES = ['1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59-23:59', '2027-02-31T00:00:00Z', '2026-01-31'];
const URLS = ['https:fuzz.invalid', 'https://fuzz.invalid/\r\nX: 1', 'https://u:p@fuzz.invalid/#', 'https://[::1'];
const ADDRESSES = ['10.0.0.1/8', '::ffff:1.2.3.4/128', 'fe80::1%eth0', '0x7f.1', '::/0', '1.2.3.4/33'];
const KEYS = ['a:*:b', 'a::b', 'a:', '*', ...[16, 17].map((segments) => Array(segments).fill('a').join(':'))];
const NUMBERS = ['0', '-1', '1.0', '0.1', '1e400', '1e-400', '9007199254740993', '12345678901234567890'];

/** JSON texts. No serializer writes some of them. */
export const JSON_TEXTS: readonly string[] = [
  ...[...TEXTS, ...TIMES, ...URLS, ...ADDRESSES, ...KEYS].map((text) => JSON.stringify(text)),
  ...[...LENGTHS, 70_000].map((length) => JSON.stringify('a'.repeat(length))),
  ...['null', 'true', '-0', ...NUMBERS, `1${'0'.repeat(400)}`],
  ...['[]', '{}', '[[]]', '[null]', '{"a":1,"a":2}', '{"__proto__":{}}', '{"constructor":1}', '{"":1}'],
  ...[199, 201, 100_000].map((levels) => '['.repeat(levels) + ']'.repeat(levels)),
];

/** Texts for paths and queries in the sent form. Some of them cannot be decoded. */
export const SENT_TEXTS: readonly string[] = [
  ...[...TEXTS, ...TIMES, ...KEYS].filter((text) => text.isWellFormed()).map(encodeURIComponent),
  ...['', '.', '..', '%2e%2e', '%2F', '%5C', '%', '%zz', '%ff', '%C0%AF', '%ED%A0%80', '%0D%0A', ';a=b', '+', '{id}'],
  ...LENGTHS.map((length) => 'a'.repeat(length)),
  ...['key_01Fkq2Xb9TzA', 'whk_01FkqAr7mZ3TQp', 'tok_01FkqBx8nW2RLc', 'evt_01M7ZADZPGGVV6894YRQS65MSF', 'evt_'],
  ...[...NUMBERS, '100', '101', '01', '+1', 'NaN', 'eyJhIjoxfQ', 'e30.e30'],
  ...['live', 'sandbox', 'failed', 'pending', 'org', 'org:acme', 'document.changed', 'day', 'hour'],
];

/** Query names in addition to those of the operation. */
export const QUERY_NAMES = ['__proto__', 'constructor', 'toString', '', 'limit[]', 'a%00b', '%', 'LIMIT', 'key'];

/** Headers for any operation. Values are bytes in Latin-1. */
export const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ...['', 'a', 'a'.repeat(255), 'a'.repeat(256), 'k\xfcche', '"quoted"', 'a,b'].map(
    (value) => ['Idempotency-Key', value] as const,
  ),
  ...['', '*', '1', '"1"', 'W/"1"', '"1", "2"', '"9007199254740993"', '"\xff"', '"a'].flatMap((value) => [
    ['If-Match', value] as const,
    ['If-None-Match', value] as const,
  ]),
  ...['', 'node-1', 'a'.repeat(64), 'a'.repeat(65), 'n\xf6de', '__proto__', '=?utf-8?q?a?='].map(
    (value) => ['X-Node-Id', value] as const,
  ),
  ...['Content-Type', 'Accept', 'Cookie', 'Origin', 'X-Custom'].map((name) => [name, '\xff\xfe'] as const),
  ...['__proto__', 'constructor', 'hasOwnProperty', 'toString'].map((name) => [name, '1'] as const),
  ['Accept-Encoding', 'gzip'],
  ['Content-Encoding', 'gzip'],
  ['Content-Encoding', 'br'],
  ['Authorization', 'Bearer svc_live_second'],
  ['X-Forwarded-For', '10.0.0.1'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['Range', 'bytes=0-0'],
  ['Expect', '100-continue'],
  ['X-Long', 'a'.repeat(8000)],
];

/** `Authorization` headers. An empty text means no header. */
export const CREDENTIALS: readonly string[] = [
  ...['', 'Bearer', 'Bearer ', 'Basic YTpi', 'Bearer \xff', 'bearer a.b.c', 'Bearer svc_live_a'],
  `Bearer ${'a'.repeat(3000)}`,
];

export const CONTENT_TYPES: readonly string[] = [
  ...['application/json', 'APPLICATION/JSON', 'application/json;', 'application/json ;a=b', 'application/jsonx'],
  ...['application/json; charset=utf-8', 'application/json; charset=utf-16', 'application/json, application/json'],
  ...['text/plain', 'application/problem+json', 'multipart/form-data', '', '*/*', 'appl\xefcation/json'],
];
