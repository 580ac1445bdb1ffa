import { describe, expect, it } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { EMAIL_WINDOW_MS, MAX_EMAILS } from '../../../lib/projects/email-budget.ts';
import { projectEmails, type SummaryMessage } from '../../../lib/projects/email-store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject, now } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';

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
  await projects(backend.table).create(project, newKey({ projectId: project.id }));
  const { reserve, summarize } = projectEmails(backend);
  for (let i = 0; i < MAX_EMAILS; i++) await (await reserve(project, null, now))(null);
  const check = async (message = state.messages.at(-1) as SummaryMessage) => {
    state.checks = [];
    await summarize(message, 'https://api.example.com/dashboard');
    return state.checks;
  };
  const email = { projectId: project.id, to: project.emails, subject: '', text: '', html: '' };
  const hold = async () => (await reserve(project, 'A line', state.now - 1))(email);
  return { backend, project, state, check, hold };
}

describe('the check for a summary', () => {
  it('is queued once for several reservations', async () => {
    const { state, hold } = await setUp();
    expect(state.checks).toEqual([60]);
    await hold();
    await hold();
    expect([state.checks, state.emails]).toEqual([[60], []]);
  });

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
    expect(state.emails).toEqual([expect.stringMatching(/since 31 Jan 2026, 11:59 UTC\.\n\nA line\n/)]);
  });
});
