import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { confirmationToken, emailIn, projectIn } from '../../../lib/emails/confirmation.ts';
import { sealCursor } from '../../../lib/http/cursor.ts';
import { sortableId } from '../../../lib/ids.ts';
import {
  askableAt,
  isConfirmed,
  markOf,
  recipientsOf,
  withEmails,
  withMark,
} from '../../../lib/projects/recipients.ts';
import { newProject, now } from '../../memory/contracts/builders.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const emails = (names: string) => [...names].map((name) => `${name}@example.com`);

/** The project after it gets other addresses, one after another. */
function changed(project: ReturnType<typeof newProject>, changes: readonly (readonly [names: string, at: number])[]) {
  const next = { ...project };
  for (const [names, at] of changes) {
    next.mailboxes = withEmails(next, emails(names), at)?.mailboxes;
    next.emails = emails(names);
  }
  return next;
}

const newProjectId = () => sortableId('prj', now, randomBytes);
const project = newProject({ id: newProjectId(), emails: emails('ab') });
const other = newProject({ id: newProjectId() });

describe('the addresses of a project', () => {
  it('are confirmed if the operator has given them, until they are removed', () => {
    expect(recipientsOf(project, now)).toEqual(emails('ab'));
    const removed = changed(project, [['b', now]]);
    expect(recipientsOf(removed, now)).toEqual(emails('b'));
    const again = changed(removed, [['ba', now + 1]]);
    expect([recipientsOf(again, now), recipientsOf(again, now, emails('a'))]).toEqual([emails('b'), emails('ba')]);
  });

  it('do not change with their case or their order', () => {
    expect(withEmails(project, ['B@example.com', 'A@EXAMPLE.COM'], now)).toEqual({ mailboxes: [], asked: [] });
  });

  it('are asked once a day, also if they are removed and added', () => {
    const asked = (from: typeof project, names: string, at: number) => withEmails(from, emails(names), at)?.asked;
    expect(asked(project, 'abcd', now)).toEqual(emails('cd'));
    const removed = changed(project, [
      ['abcd', now],
      ['ab', now + 1],
    ]);
    expect(asked(removed, 'abcd', now + DAY_MS - 1)).toEqual([]);
    expect(asked(removed, 'abcd', now + DAY_MS)).toEqual(emails('cd'));
    expect(askableAt(removed, 'c@example.com')).toBe(now + DAY_MS);
  });

  it('keep a mark for 30 days, also if they are removed and added', () => {
    const mark = { reason: 'complained', at: now } as const;
    const marked = { ...project, mailboxes: withMark(project, 'A@example.com', mark) };
    const again = changed(marked, [
      ['b', now + 1],
      ['c', now + 29 * DAY_MS],
      ['a', now + 30 * DAY_MS - 2],
    ]);
    expect(markOf(again, 'a@example.com', now + 30 * DAY_MS - 1)).toEqual(mark);
    expect(markOf(again, 'a@example.com', now + 30 * DAY_MS)).toBeUndefined();
    expect(withEmails(changed(marked, [['b', now]]), emails('ab'), now + 1)?.asked).toEqual([]);
    expect(withMark(project, 'stranger@example.com', mark)).toBeUndefined();
  });

  it('are at most 30 different ones in 30 days, of which it can use each again', () => {
    const names = 'abcdefghijklmnopqrstuvwxyz0123';
    const used = changed(
      project,
      [...names].map((name, i) => [name, now + i] as const),
    );
    expect(used.mailboxes).toHaveLength(30);
    expect(withEmails(used, emails('4'), now + 40)).toBeNull();
    expect(withEmails(used, emails('cdef'), now + 40)).toMatchObject({ asked: [] });
    // `a` and `b` were removed first, and count for 30 days from then.
    expect(withEmails(used, emails('4'), now + 30 * DAY_MS)).toBeNull();
    expect(withEmails(used, emails('4'), now + 1 + 30 * DAY_MS)?.mailboxes).toHaveLength(30);
    expect(isConfirmed(used, 'z@example.com')).toBe(false);
  });
});

describe('the token of a link', () => {
  const email = 'new@example.com';
  const token = confirmationToken(project, email, now, randomBytes);
  const sealed = token.split('.')[1] ?? '';

  it('confirms its address for its project, for a week', () => {
    expect(projectIn(token)).toBe(project.id);
    expect(emailIn(project, token, now + 7 * DAY_MS - 1)).toBe(email);
    expect(emailIn(project, token, now + 7 * DAY_MS)).toBeNull();
  });

  it.each([
    ['of another project', confirmationToken(other, email, now, randomBytes)],
    [
      'with the id of this project and the text of another one',
      `${project.id}.${confirmationToken(other, email, now, randomBytes).split('.')[1]}`,
    ],
    [
      'that is a cursor of this project',
      `${project.id}.${sealCursor(project.cursorSecret, 'scope', '{}', randomBytes)}`,
    ],
    ['that was changed', token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')],
    ['without a project', sealed],
    ['without a text', `${project.id}.`],
    ['that is empty', ''],
  ])('confirms nothing %s', (_, wrong) => {
    expect(emailIn(project, wrong, now)).toBeNull();
  });
});
