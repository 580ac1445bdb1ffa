import { expect, it } from 'vitest';
import { parseJson } from '../../../lib/json.ts';

it.each([
  '0',
  '-7',
  '999999999999999',
  '9007199254740993',
  '-0',
  '0.1',
  '1.0',
  '-1.50',
  '1e2',
  '1E400',
  '1e-7',
])('keeps the number %s unchanged', (number) => {
  const text = `{"n":[${number},true]}`;
  expect(JSON.stringify(parseJson(text))).toBe(text);
});
