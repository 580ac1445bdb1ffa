import { expect, it } from 'vitest';
import { meets } from '../../../lib/http/etag.ts';

it.each([
  ['if-match', '"3"', '"3"', true],
  ['if-match', '"2"', '"3"', false],
  ['if-match', '"2" , "3"', '"3"', true],
  ['if-match', 'W/"3"', '"3"', false], // a weak tag never matches
  ['if-match', '*', '"3"', true],
  ['if-match', '*', undefined, false],
  ['if-match', '"3"', undefined, false],
  ['if-none-match', '"3"', '"3"', false],
  ['if-none-match', 'W/"3"', '"3"', false],
  ['if-none-match', '"2"', '"3"', true],
  ['if-none-match', '*', '"3"', false],
  ['if-none-match', '*', undefined, true],
  ['x-other', '', undefined, true],
])('the precondition %s: %s is met by the ETag %s: %s', (name, value, etag, expected) => {
  expect(meets({ [name]: value }, etag)).toBe(expected);
});
