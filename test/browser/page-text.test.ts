import { expect, it } from 'vitest';
import { EVENT_TYPES } from '../../lib/events/types.ts';
import { reviewed } from './page-text.ts';

const id = `evt_${'7'.padStart(26, '0')}`;

it.each([
  ['a request', `GET /v1/events/${id}`, 'GET /v1/events/evt_7'],
  ['an id that is cut off', `- text: ${id.slice(0, 20)}`, `- text: ${id.slice(0, 20)}`],
  ['a link', '- link "A":\n  - /url: "#/a"', '- link "A": "#/a"'],
  ['a link with more', '- link "A":\n  - /url: "#/a"\n  - code: A', '- link "A": "#/a", code: A'],
  ['a term', '- main:\n  - term: A\n  - definition: B', '- main:\n  - term A: B'],
  [
    'a row',
    '- row:\n  - cell "Select A":\n    - checkbox "Select A"\n  - rowheader "A b":\n    - link "A":\n      - /url: "#/a"\n    - text: b\n  - \'cell "C: d"\'',
    '- row: checkbox "Select A" | [link "A": "#/a", text: b] | C: d',
  ],
  ['a cell with another name', '- row:\n  - cell "A":\n    - time: B', '- row: A, time: B'],
  [
    'a list of the event types',
    ['- combobox "Type":', '  - option "All" [selected]', ...EVENT_TYPES.map((type) => `  - option "${type}"`)].join(
      '\n',
    ),
    '- combobox "Type": All (of All | {event types})',
  ],
  [
    'a list of some event types',
    '- combobox "Type":\n  - option "sync.conflict" [selected]\n  - option "sync.completed"',
    '- combobox "Type": sync.conflict (of sync.conflict | sync.completed)',
  ],
  ['hints', '# : type=checkbox\n# A: title=B\n# : type=checkbox', '# : type=checkbox (2 times)\n# A: title=B'],
  ['a part of a page', '  - status: Copied', '  - status: Copied'],
  [
    'a dialog that is shown again',
    '- dialog "A":\n  - text: B\n  - text: B\n# Again\n- dialog "A":\n  - text: B\n  - alert: C',
    '- dialog "A":\n  - text: B\n  - text: B\n# Again\n- dialog "A" again:\n  without text: B\n  with alert: C',
  ],
])('states %s', (_, text, expected) => {
  expect(reviewed(text)).toBe(expected);
});
