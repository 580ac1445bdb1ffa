import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import {
  confirmed,
  EMAIL_WINDOW_MS,
  EMPTY_BUDGET,
  type EmailBudget,
  emailAllowedAt,
  type Line,
  LOST_AFTER_MS,
  MAX_EMAILS,
  nextCheckAt,
  released,
  reserved,
  summarized,
  withEmail,
} from '../../../lib/emails/email-budget.ts';
import { keyCreated, type Notice, noticeEmail } from '../../../lib/emails/notices.ts';
import { projectEmails, type SummaryMessage } from '../../../lib/emails/send.ts';
import { dashboardOf } from '../../../lib/http/base-url.ts';
import { putFirstKey } from '../../../lib/keys/store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject, now } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';

it('an email links to the dashboard of the configuration, and has no link without it, as during an upgrade', () => {
  const project = { id: 'prj_1', name: 'Acme <b>', emails: ['a@example.com', 'b@example.com'] };
  const caller = { projectId: 'prj_1', keyId: 'key_1', type: 'admin' } as const;
  const notice = keyCreated({ id: 'key_2', name: null, type: 'admin' }) as Notice;
  const textWith = (baseUrl: string) =>
    noticeEmail(project, notice, { caller, address: '192.0.2.1' }, dashboardOf(baseUrl), now).text;
  const baseUrl = 'https://api.example.com/v1-stage';
  expect(textWith(baseUrl)).toContain(`\n${baseUrl}/dashboard#/live/keys/key_1\n`);
  const text = textWith('');
  expect(text).toMatch(/^A request created the admin key key_2\. /);
  expect(text).not.toMatch(/http|#/);
  expect(text).toContain('Document Sync Service sends this email because');
});

const MINUTE_MS = 60_000;
const linesOf = (texts: readonly string[]): Line[] => texts.map((text) => ({ text, place: '/live/webhooks/whk_1' }));
const told = (since = now, lines: string[] = []) => ({
  since,
  changes: lines.length === 0 ? 1 : 0,
  lines: linesOf(lines),
  to: ['a@example.com'],
  asked: [],
});
const full = [0, 1, 2, 3, 4].reduce<EmailBudget>((budget, i) => withEmail(budget, now + i), EMPTY_BUDGET);

describe('a budget', () => {
  it('allows the next email when the oldest leaves the window', () => {
    expect(emailAllowedAt(full, now + 5)).toBe(now + EMAIL_WINDOW_MS);
    expect(emailAllowedAt(full, now + EMAIL_WINDOW_MS)).toBe(now + EMAIL_WINDOW_MS);
    const { isAllowed, next } = reserved(full, 'a', told(), now + EMAIL_WINDOW_MS);
    expect([isAllowed, next.sentAt]).toEqual([true, [now + 1, now + 2, now + 3, now + 4, now + EMAIL_WINDOW_MS]]);
  });

  it('gets the place of an email back that is not needed', () => {
    const { next } = reserved(withEmail(EMPTY_BUDGET, now - 1), 'a', told(), now);
    expect(released(next, 'a')).toEqual({ next: { ...withEmail(EMPTY_BUDGET, now - 1), reserved: [] } });
    expect(released(confirmed(next, 'a').next, 'a').next.sentAt).toEqual([now - 1, now]);
  });

  it('sends no other email before a summary that is due', () => {
    const { next } = reserved(full, 'a', told(), now + 5);
    expect(reserved(next, 'b', told(), now + EMAIL_WINDOW_MS + 4).isAllowed).toBe(false);
  });
});

const held = reserved(full, 'a', told(), now + 5).next;
const one = reserved(EMPTY_BUDGET, 'a', told(), now).next;
const used = [1, 2, 3, 4].reduce((budget, i) => withEmail(budget, now + i), one);

it.each<[string, EmailBudget, number, number | undefined]>([
  ['one minute after a reservation', one, now, now + MINUTE_MS],
  ['when an email is allowed, for what was held back', held, now + 5, now + EMAIL_WINDOW_MS],
  ['again, if it was early', held, now + EMAIL_WINDOW_MS - 1, now + EMAIL_WINDOW_MS],
  ['when an email is allowed, for what was lost', used, now + MINUTE_MS, now + EMAIL_WINDOW_MS],
  ['soon, if a summary is due', held, now + EMAIL_WINDOW_MS, now + EMAIL_WINDOW_MS + 1],
  ['not when nothing is left', confirmed(one, 'a').next, now, undefined],
])('the check for a summary comes %s', (_, budget, at, expected) => {
  expect(nextCheckAt(budget, at)).toBe(expected);
});

/** A summary for which no address waits. */
const summary = (budget: EmailBudget, id: string, at: number) => summarized(budget, id, at, () => false);

describe('a summary', () => {
  it('contains everything that was held back or lost, each line once, in one email of the budget', () => {
    const lost = reserved(EMPTY_BUDGET, 'a', told(now, ['One']), now).next;
    const used = [1, 2, 3, 4].reduce((budget, i) => withEmail(budget, now + i), lost);
    const two = reserved(used, 'b', told(now + 5, ['Two']), now + 5).next;
    const again = reserved(two, 'c', told(now + 6, ['Two']), now + 6).next;
    const three = reserved(again, 'd', { ...told(now + 7), to: ['b@example.com'] }, now + 7).next;
    const { told: all, next } = summary(three, 'e', now + EMAIL_WINDOW_MS);
    const expected = { since: now, changes: 1, lines: linesOf(['One', 'Two']), to: ['a@example.com'], asked: [] };
    expect(all).toEqual(expected);
    expect(next.held).toBeUndefined();
    expect(next.reserved).toEqual([{ id: 'e', at: now + EMAIL_WINDOW_MS, ...expected }]);
    expect(next.sentAt.at(-1)).toBe(now + EMAIL_WINDOW_MS);
    expect(summary(next, 'f', now + EMAIL_WINDOW_MS + MINUTE_MS).told).toEqual(expected);
    expect(summary(confirmed(next, 'e').next, 'f', now + EMAIL_WINDOW_MS + MINUTE_MS).told).toBeUndefined();
  });

  it('is left by an email that can still be confirmed, to the next one', () => {
    const first = reserved(EMPTY_BUDGET, 'a', told(now, ['One']), now).next;
    const both = reserved(first, 'b', told(now + 1000, ['Two']), now + 1000).next;
    expect(nextCheckAt(both, now + 1000)).toBe(now + LOST_AFTER_MS);
    const { told: lost, next } = summary(both, 'c', now + LOST_AFTER_MS);
    expect(lost?.lines).toEqual(linesOf(['One']));
    const sent = confirmed(next, 'c').next;
    expect(nextCheckAt(sent, now + LOST_AFTER_MS)).toBe(now + 1000 + LOST_AFTER_MS);
    expect(summary(sent, 'd', now + 1000 + LOST_AFTER_MS).told?.lines).toEqual(linesOf(['Two']));
  });

  it.each([
    ['first', 0, 1, 'one'],
    ['first, together with the second', 1, 1, 'one'],
    ['last', 2, 1, 'two'],
  ])('goes to the addresses from when the first of it happened, which was recorded %s', (_, one, two, name) => {
    const of = (name: string, ms: number) => ({ ...told(now + ms), to: [`${name}@example.com`] });
    const first = reserved(EMPTY_BUDGET, 'a', of('one', one), now + 5).next;
    const lost = reserved(first, 'b', of('two', two), now + 5).next;
    expect(summary(lost, 'c', now + 5 + LOST_AFTER_MS).told).toEqual({
      since: now + Math.min(one, two),
      changes: 2,
      lines: [],
      to: [`${name}@example.com`],
      asked: [],
    });
  });

  it('has a line for each webhook, also if two have the same name and host', () => {
    const lines = ['whk_1', 'whk_2'].map((id) => ({ text: 'One', place: `/live/webhooks/${id}` }));
    const both = lines.reduce((budget, line) => reserved(budget, 'a', { ...told(), lines: [line] }, now).next, full);
    expect(both.held?.lines).toEqual(lines);
  });

  it('counts what has no place in its 200 lines', () => {
    let budget = full;
    for (let i = 0; i < 250; i++) budget = reserved(budget, 'a', told(now, [`Line ${i}`]), now + 5).next;
    expect(budget.held).toMatchObject({ changes: 50, lines: { length: 200 } });
  });
});

/** A project that has used its emails, and whose next summary has one line. */
async function setUp() {
  const project = newProject();
  const state = { now, checks: [] as number[], messages: [] as SummaryMessage[], emails: [] as string[] };
  const backend = memoryBackend({ clock: () => state.now }, ({ name, input }) => {
    if (name === 'SendEmail') state.emails.push(input.Message.Body.Text.Data);
    else if (name !== 'SendMessageBatch') return undefined;
    for (const { MessageBody, DelaySeconds } of input.Entries ?? []) {
      state.checks.push(DelaySeconds);
      state.messages.push(JSON.parse(MessageBody));
    }
    return {};
  });
  await projects(backend.table).create(project, putFirstKey(newKey({ projectId: project.id })));
  const { reserve, summarize } = projectEmails(backend);
  const email = { projectId: project.id, to: project.emails, subject: '', text: '', html: '' };
  for (let i = 0; i < MAX_EMAILS; i++) await (await reserve(project, null, now))({ ...email, to: [] });
  const check = async (message = state.messages.at(-1) as SummaryMessage) => {
    state.checks = [];
    await summarize(message);
    return state.checks;
  };
  const hold = async () => (await reserve(project, { text: 'A line', place: '/live' }, state.now - 1))(email);
  return { backend, project, state, check, hold };
}

describe('the message that checks for a summary', () => {
  it('is queued again only once if its message is received twice', async () => {
    const { state, check, hold } = await setUp();
    await hold();
    state.now += 60_000;
    const message = state.messages.at(-1);
    expect(await check(message)).toEqual([540]);
    state.now++;
    expect(await check(message)).toEqual([]);
    expect(await check()).toEqual([540]);
  });

  it('is queued by the next reservation if it comes early and finds nothing', async () => {
    const { check, hold, state } = await setUp();
    expect(await check()).toEqual([]);
    await hold();
    expect(state.checks).toEqual([600]);
  });

  it('is queued by the next reservation, also if its clock is behind that of a check that found nothing', async () => {
    const { check, hold, state } = await setUp();
    state.now += 60_000;
    expect(await check()).toEqual([]);
    state.now -= 2000;
    await hold();
    expect(state.checks).toEqual([542]);
  });

  it('finds its lines after an outage of weeks', async () => {
    const { backend, project, hold } = await setUp();
    await hold();
    const { expires } = (await backend.table.get(itemKey.emails(project.id))) as { expires: number };
    expect(expires * 1000).toBeGreaterThanOrEqual(now + 28 * 24 * 60 * 60 * 1000);
  });

  it('is queued by the next reservation if its message was lost', async () => {
    const { state, check, hold } = await setUp();
    await hold();
    state.now += 2 * EMAIL_WINDOW_MS;
    state.checks = [];
    await hold();
    expect([state.checks, state.emails]).toEqual([[1], []]);
    await check();
    expect(state.emails).toEqual([
      expect.stringMatching(/since 31 Jan 2026, 11:59 UTC\.\n\nA line\nOpen in the dashboard:\nhttp\S+#\/live\n/),
    ]);
  });
});
