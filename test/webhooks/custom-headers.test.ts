import { describe, expect, it } from 'vitest';
import { CustomHeaders, masked } from '../../lib/webhooks/custom-headers.ts';
import { violationsOf } from '../support/violations.ts';

const violations = (headers: unknown) => violationsOf(CustomHeaders, headers, 'headers');

describe("a webhook's own headers", () => {
  it.each<[string, object]>([
    ['none', {}],
    ['a credential', { Authorization: 'Bearer abc', 'X-Api-Key': 'k' }],
    ['10 of them', Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`X-${i}`, 'v']))],
    ['2 KiB in all', { 'X-Long': 'x'.repeat(2042) }],
  ])('may be %s', (_, headers) => {
    expect(violations(headers)).toEqual([]);
  });

  it.each<[string, unknown, RegExp]>([
    ['a list', ['a'], /^headers must be an object/],
    ['null', null, /^headers must be an object/],
    ['11 of them', Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`X-${i}`, 'v'])), /at most 10 entries/],
    ['more than 2 KiB', { 'X-Long': 'x'.repeat(2043) }, /at most 2048 bytes/],
    ['a name with a space', { 'a b': 'v' }, /headers\.a b must have a name/],
    ['an empty name', { '': 'v' }, /must have a name/],
    ['an empty value', { a: '' }, /^headers\.a must be printable/],
    ['a line break', { a: 'x\r\ny: z' }, /^headers\.a must be printable/],
    ['a number', { a: 1 }, /^headers\.a must be printable/],
    ['text beyond ASCII', { a: 'é' }, /^headers\.a must be printable/],
    ['one name twice', { 'X-A': '1', 'x-a': '2' }, /is a duplicate/],
    ...[
      'Content-Type',
      'user-agent',
      'HOST',
      'X-Service-Signature',
      'webhook-id',
      'Connection',
      'Transfer-Encoding',
    ].map((name): [string, unknown, RegExp] => [name, { [name]: 'v' }, /that every attempt or HTTP itself sets/]),
  ])('may not be %s', (_, headers, expected) => {
    expect(violations(headers)[0]).toMatch(expected);
  });

  it('are wrong in all places at once', () => {
    expect(violations({ 'a b': 'v', Host: 'x', ok: 'v' })).toHaveLength(2);
  });

  it('are shown by their names alone', () => {
    expect(masked({ Authorization: 'Bearer abc' })).toEqual({ Authorization: '***' });
    expect(masked()).toEqual({});
  });
});
