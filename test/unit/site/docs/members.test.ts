import { expect, it } from 'vitest';
import { rangeText } from '../../../../functions/site/docs/render/members.ts';

it.each([
  [undefined, undefined, 'entries', ''],
  [0, undefined, 'characters', ''],
  [0, 32, 'entries', 'at most 32 entries'],
  [1, 6, 'entries', '1 to 6 entries'],
  [1, undefined, 'entries', 'not empty'],
  [24, undefined, 'characters', 'at least 24 characters'],
  [0, 86_400, '', '0 to 86400'],
  [1, Number.MAX_SAFE_INTEGER, '', 'at least 1'],
  [undefined, 900, '', 'at most 900'],
])('formats the limits %s and %s of "%s" as "%s"', (least, most, counted, text) => {
  expect(rangeText(least, most, counted)).toBe(text);
});
