import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adviceOn, outcomeText } from '../../../../functions/site/dashboard/components/deliveries.tsx';
import { meaningOf } from '../../../../functions/site/dashboard/components/delivery-text.ts';
import { comparison } from '../../../../functions/site/dashboard/deliveries/compare.ts';
import { csv } from '../../../../functions/site/dashboard/deliveries/csv.ts';
import { curlCommand } from '../../../../functions/site/dashboard/deliveries/curl.ts';
import type { Delivery } from '../../../../functions/site/dashboard/state/api.ts';
import { parseJson as parseShown } from '../../../../functions/site/dashboard/state/parse-json.ts';
import { resultText } from '../../../../functions/site/dashboard/webhooks/recovery-result.tsx';
import { DELIVERY_REASONS } from '../../../../lib/deliveries/retry-schedule.ts';
import { eventWithId } from '../../../../lib/events/event.ts';
import { type Json, parseJson } from '../../../../lib/json.ts';

type Attempt = Delivery['attempts'][number];
const first: Attempt = {
  number: 1,
  trigger: 'schedule',
  at: '2026-01-31T12:00:00.000Z',
  requests: 1,
  url: 'https://example.com/',
  status_code: 503,
  error: 'status_not_2xx',
  error_reason: null,
  duration_ms: 12,
  request_headers: null,
  response_headers: { date: 'today', via: 'edge-1' },
  response_excerpt: 'Out of order',
};

it.each<[string, Partial<Attempt>, string]>([
  ['the same later', { response_headers: { date: 'tomorrow', via: 'edge-1' } }, 'Same response as to attempt 1.'],
  ['another status', { status_code: 500 }, 'Differs from attempt 1: outcome.'],
  ['another error', { error: 'timeout' }, 'Differs from attempt 1: outcome.'],
  ['another cause', { error_reason: 'ECONNREFUSED' }, 'Differs from attempt 1: outcome.'],
  ['another body', { response_excerpt: 'Busy' }, 'Differs from attempt 1: body.'],
  [
    'headers that are others, new or gone',
    { response_headers: { date: 'tomorrow', server: 'nginx' } },
    'Differs from attempt 1: headers (server, via).',
  ],
  [
    'no response',
    { status_code: null, error: 'timeout', response_headers: null, response_excerpt: null },
    'Differs from attempt 1: outcome, body, headers (via).',
  ],
])('names the difference of an attempt with %s', (_, got, text) => {
  expect(comparison(first, { ...first, number: 2, ...got })).toBe(text);
});

it.each([
  [null, 'connection_refused', 'The connection was refused', /^Nothing listens/],
  [302, 'redirect_not_followed', /^HTTP 302: the response was a redirect/, /^Set the endpoint URL/],
  [401, 'status_not_2xx', 'HTTP 401', /with the current secret/],
  [200, 'response_truncated', 'HTTP 200', undefined],
])('explains the outcome %s %s, with advice', (status_code, error, text, advice) => {
  const attempt = { ...first, status_code, error };
  expect([outcomeText(attempt), adviceOn(attempt)]).toEqual(
    [text, advice].map((each) => each && expect.stringMatching(each)),
  );
});

describe('the status of a delivery', () => {
  const delivery = (of: Partial<Delivery>): Delivery =>
    ({ status: 'skipped', reason: null, test: false, attempts: [], ...of }) as Delivery;
  const sixth = [{ ...first, number: 6 }];

  it.each([
    [{ status: 'pending' }, 'The first attempt is queued.'],
    [{ status: 'succeeded' }, 'Your endpoint accepted the event.'],
    [{ status: 'retrying' }, 'Another attempt is scheduled.'],
    [{ status: 'failed', attempts: sixth }, 'All six attempts failed.'],
    [{ status: 'failed', attempts: [first] }, 'The event expired before the next attempt.'],
    [{ status: 'failed', attempts: [first], test: true }, 'A test event is not retried.'],
    [{ status: 'skipped' }, 'No attempt was made.'],
    [{ status: 'skipped', reason: 'paused' }, 'No attempt was made because a person had paused the webhook.'],
    [{ status: 'canceled', reason: 'suspended' }, /^The next attempt was canceled because the operator had suspended/],
  ] satisfies [Partial<Delivery>, string | RegExp][])('has one cause: %o', (of, text) => {
    expect(meaningOf(delivery(of))).toEqual(expect.stringMatching(text));
  });

  it('has one cause for each reason', () => {
    const texts = DELIVERY_REASONS.map((reason) => meaningOf(delivery({ reason })));
    expect(new Set(texts).size).toBe(DELIVERY_REASONS.length);
    expect(texts.filter((text) => / or /.test(text))).toEqual([]);
  });
});

it.each([
  [{ sent: 39, delivered: 0, failed: 39 }, '39 sent: 0 delivered, 39 failed'],
  [{ sent: 1200, delivered: 1000, failed: 50 }, '1,200 sent: 1,000 delivered, 50 failed, 150 without an attempt yet'],
  [{ sent: 1, delivered: 1, failed: 1 }, '1 sent: 1 delivered, 1 failed'],
])('states the result of a recovery for the endpoint: %o', (counts, text) => {
  expect(resultText(counts)).toBe(text);
});

it('writes rows according to RFC 4180', () => {
  expect(
    csv([
      ['a', 'b'],
      [1, null],
      ['say "hi", you', 'two\nlines'],
    ]),
  ).toBe('"a","b"\r\n1,\r\n"say ""hi"", you","two\nlines"\r\n');
});

it.each([
  ...['=1+1', '+1', '-1', '@sum', '\tx', '\rx', '\nx', '\0x', '\0=1+1', ' =1+1', '\u00a0=1', '\ufeff=1', '\u200b@x'],
  ...[';=1+1', '"=1+1', "'=1+1", '＝1+1', '＋1', '－1', ' ＠sum'],
])('writes %j so that no spreadsheet reads it as a formula', (text) => {
  expect(csv([[text]]).slice(0, 2)).toBe(`"'`);
});

it('writes texts that a parser returns unchanged', () => {
  const text = fc.string().map((each) => `a${each}`);
  fc.assert(
    fc.property(fc.array(fc.array(text, { minLength: 2, maxLength: 2 }), { minLength: 1 }), (rows) => {
      expect(read(csv(rows))).toEqual(rows);
    }),
  );
});

/** A parser for RFC 4180. */
function read(file: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted = '', end] of file.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)) {
    row.push(quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

const space = { projectId: 'prj_1', environment: 'live' } as const;
const parsePublished = (text: string) => parseJson(text) as { [name: string]: Json };

/** Returns the arguments that a shell passes to curl. */
const argumentsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

const text = fc.string({ unit: fc.constantFrom(...'\'"\\$`!{}[]*?~;&|<>()#% \n\tä🎉a1'), maxLength: 30 });

describe('a curl command', () => {
  it('passes every text to curl unchanged through a shell', () => {
    fc.assert(
      fc.property(text, text, text, (path, value, body) => {
        const url = `https://example.com/${path}`;
        expect(argumentsOf(curlCommand(url, { 'X-A': value, 'X-B': '1' }, body))).toEqual([
          '-g',
          url,
          '-H',
          `X-A: ${value}`,
          '-H',
          'X-B: 1',
          '--data-raw',
          body,
        ]);
      }),
      { numRuns: 50 },
    );
  });

  it('contains the same body as every attempt', () => {
    const names = fc.constantFrom('1', '2', '10', 'b', 'a', '__proto__', 'constructor', '\u2028', '\ud800', 'ä');
    const digits = fc.constantFrom('1', '-0', '1.0', '1e400', '12345678901234567890').map((text) => `${text}`);
    fc.assert(
      fc.property(fc.dictionary(names, digits), (members) => {
        const data = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
        const published = parsePublished(`{"b":1,"1":2,"data":{${data.reverse().join(',')}}}`);
        const { body } = eventWithId({ ...space, id: 'evt_1', at: 0, type: 'document.changed', data: published });
        expect(JSON.stringify(parseShown(body))).toBe(body);
      }),
    );
  });
});
