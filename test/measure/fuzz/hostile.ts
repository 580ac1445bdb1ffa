/** Values that often break programs. JSON texts by the type that they replace. No serializer writes some of them. */

const long = (length: number) => JSON.stringify('a'.repeat(length));
const nested = (levels: number, open: string, close: string) => `${open.repeat(levels)}1${close.repeat(levels)}`;

const times = [
  ...['"1969-12-31T23:59:59.999Z"', '"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59-23:59"', '"2027-02-31T00:00:00Z"'],
  ...['"2999-01-01T00:00:00Z"', '"+275760-09-13T00:00:00Z"', '"2026-01-31"', '"Sat, 31 Jan 2026 12:00:00 GMT"'],
];
const urls = [
  ...['"https:fuzz.invalid"', '"https://fuzz.invalid/\\r\\nX: 1"', '"https://u:p@fuzz.invalid/#"', '"https://[::1"'],
  ...[
    '"https://fuzz.invalid:99999/"',
    `"https://fuzz.invalid/${'€'.repeat(2000)}"`,
    '"javascript:alert(1)"',
    '"https://"',
  ],
];
const addresses = [
  ...['"10.0.0.1/8"', '"::ffff:1.2.3.4/128"', '"fe80::1%eth0"', '"0x7f.1"', '"0.0.0.0/0"', '"::/0"', '"1.2.3.4/33"'],
];
const texts = [
  ...[
    '""',
    '" "',
    '"\\u0000"',
    '"\\ud800"',
    '"\\udfff\\ud800"',
    '"\\u202e"',
    '"\\r\\nX-Injected: 1"',
    '"漢字"',
    '"🙂"',
  ],
  ...['"*"', '":"', '"a:*:b"', '"a::b"', '"."', '".."', '"%"', '"%2F"', '"__proto__"', '"constructor"'],
  ...[long(64), long(65), long(256), long(257), long(513), long(2049), long(70_000), `"${'漢'.repeat(43_000)}"`],
];
const numbers = [
  ...['0', '-0', '-1', '1.0', '1e0', '0.1', '1e400', '-1e400', '1e-400', '1E+2', '2147483648', '4294967296'],
  ...['9007199254740993', '12345678901234567890', `1${'0'.repeat(400)}`, `0.${'3'.repeat(400)}`],
];
const structures = [
  ...[
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '{"a":1,"a":2}',
    '{"__proto__":{}}',
    '{"constructor":1}',
    '{"toString":1}',
    '{"":1}',
  ],
  ...[nested(199, '[', ']'), nested(201, '[', ']'), nested(150, '{"a":', '}'), nested(100_000, '[', ']')],
];

export const JSON_TEXTS: readonly string[] = [
  ...['null', 'true', 'false', ...times, ...urls, ...addresses, ...texts, ...numbers, ...structures],
];

/** Returns the texts that are most similar to the replaced value, so that they pass more checks. */
export function jsonTextsLike(value: unknown): readonly string[] {
  if (typeof value === 'number') return numbers;
  if (typeof value !== 'string') return structures;
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return times;
  if (/^https?:/.test(value)) return urls;
  return /^\d+(\.\d+){3}/.test(value) ? addresses : texts;
}

/** Path segments in the sent form. */
export const SEGMENTS: readonly string[] = [
  ...[
    '',
    '.',
    '..',
    '%2e%2e',
    '%2F',
    '%5C',
    '%',
    '%zz',
    '%00',
    '%0D%0A',
    '%20',
    '%ff',
    '%C0%AF',
    '%ED%A0%80',
    '%E6%BC%A2',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '*',
    ':',
    'a::b',
    'a:*',
    '~',
    '@',
    '-',
    ';a=b',
    '+',
    '$&',
    '{id}',
    'null',
  ],
  ...[65, 513, 1100, 1500, 2049, 4000].map((length) => 'a'.repeat(length)),
  ...[16, 17].map((segments) => Array(segments).fill('a').join(':')),
  ...['key_01Fkq2Xb9TzA', 'whk_01FkqAr7mZ3TQp', 'evt_01FkqBx8nW2RLc', 'prj_01FkqBx8nW2RLc', 'tok_01FkqBx8nW2RLc'],
  ...['evt_01M7ZADZPGGVV6894YRQS65MSF', 'evt_', 'whk_%00', `evt_${'0'.repeat(2000)}`, '%F0%9F%99%82'],
];

/** Query values in the sent form. */
export const QUERY_VALUES: readonly string[] = [
  ...['', '0', '1', '100', '101', '-1', '1e2', '01', '+1', '1.0', '999999999999999999999', 'NaN', 'true', 'null', '[]'],
  ...['%', '%ff', '%00', '%0D%0A', '%ED%A0%80', '%F0%9F%99%82', '__proto__', 'a'.repeat(5000), 'eyJhIjoxfQ', 'e30.e30'],
  ...['live', 'sandbox', 'failed', 'pending', 'org', 'org:acme', 'org:', 'document.changed', 'day', 'hour'],
  ...['1969-12-31T23:59:59.999Z', '0001-01-01T00:00:00Z', '2999-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59'],
  ...['2026-01-31T12:00:00%2B01:00', '2026-01-31T12:00:00+01:00', '2026-02-30T00:00:00Z'],
];

/** Query names in addition to those of the operation. */
export const QUERY_NAMES: readonly string[] = [
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '',
    'limit[]',
    'limit[0]',
    'a%00b',
    '%',
    'LIMIT',
    'key',
  ],
];

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
  ...[
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'Bearer \xff',
    'bearer a.b.c',
    `Bearer ${'a'.repeat(3000)}`,
    'Bearer svc_live_a',
  ],
];

export const CONTENT_TYPES: readonly string[] = [
  ...[
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json;',
    'application/json ;a=b',
  ],
  ...['text/plain', 'application/json, application/json', 'application/problem+json', 'multipart/form-data', '', '*/*'],
  ...[
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'appl\xefcation/json',
  ],
];
