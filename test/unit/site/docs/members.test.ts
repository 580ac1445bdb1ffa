import { expect, it } from 'vitest';
import { membersOf, rangeText } from '../../../../functions/site/docs/render/members.ts';
import { EVENT_TYPES } from '../../../../lib/events/types.ts';

it.each([
  { $ref: '#/components/schemas/PublishEvent' },
  { type: 'array', items: { $ref: '#/components/schemas/PublishEvent' } },
  { $ref: '#/components/schemas/TestWebhook' },
])('lists the members of every type of event: %j', (schema) => {
  const html = membersOf(schema);
  for (const type of EVENT_TYPES) {
    const [, alternative = ''] = html.split(`<summary><code>${type}</code></summary>`);
    expect(alternative).toContain(`<code>type</code> <small>&quot;${type}&quot;`);
  }
});

it('states types and limits', () => {
  const html = membersOf({ $ref: '#/components/schemas/CreateWebhook' });
  expect(html).toContain('<code>description</code> <small>string | null, optional</small>');
  expect(html).toContain('<small class="limits">1 to 500</small>'); // of a named schema
  expect(html).toContain('<code>documents</code> <small>list of string | null, optional</small>');
  const own = membersOf({
    properties: { a: { type: 'string', maxLength: 9, format: 'uri' }, b: { enum: ['x', 'y'] } },
  });
  expect(own).toContain('<small class="limits">at most 9 characters · format uri</small>');
  expect(own).toContain('<small>&quot;x&quot; | &quot;y&quot;, optional</small>');
});

it.each([
  [0, 32, 'entries', 'at most 32 entries'],
  [1, 6, 'entries', '1 to 6 entries'],
  [1, undefined, 'entries', 'not empty'],
  [0, 86_400, '', '0 to 86400'],
  [1, Number.MAX_SAFE_INTEGER, '', 'at least 1'],
  [undefined, 900, '', 'at most 900'],
])('formats the limits %s and %s of "%s" as "%s"', (least, most, counted, text) => {
  expect(rangeText(least, most, counted)).toBe(text);
});
