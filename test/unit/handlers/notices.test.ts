import { randomBytes as random } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { keyHandlers } from '../../../lib/keys/handlers.ts';
import { generateKey } from '../../../lib/keys/key.ts';
import { apiKeys } from '../../../lib/keys/store.ts';
import { auditLog } from '../../../lib/projects/audit-store.ts';
import { projectHandlers } from '../../../lib/projects/handlers.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject, now } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import { requestOf } from './requests.ts';

const OLD = ['old@example.com'];

/** A project whose handlers run on a table in memory, and an email service that a test can break. */
async function setUp({ isGone = false } = {}) {
  const state = { emails: [] as { to: string[]; subject: string; text: string }[], isDown: false, now };
  const reportFailure = vi.fn();
  const backend = memoryBackend({ clock: () => state.now }, ({ name, input }) => {
    if (name === 'SendMessageBatch') return {};
    if (name !== 'SendEmail') return undefined;
    if (state.isDown) throw new Error('SES is down');
    const { Destination, Message } = input;
    state.emails.push({ to: Destination.ToAddresses, subject: Message.Subject.Data, text: Message.Body.Text.Data });
    return {};
  });
  const { table } = backend;
  const keys = apiKeys(table);
  const audit = auditLog(table);
  const project = newProject({ emails: OLD });
  if (!isGone) await projects(table).create(project, newKey({ projectId: project.id }));
  const { record: admin } = generateKey({ projectId: project.id, type: 'admin', name: 'CI' }, now, random);
  await keys.create(admin, []);
  const reporting = { ...backend, reportFailure };
  const { getProject, changeProject, sendTestEmail } = projectHandlers(reporting);
  const { createKey, rotateKey, changeKey, setAllowlist } = keyHandlers(reporting);
  const none = () => [];
  const own = <Body>(body: Body, path = {}) => requestOf({ projectId: project.id }, { body, path });
  const ofAdmin = { key: admin.id };
  return {
    state,
    project,
    reportFailure,
    admin,
    stored: () => projects(table).get(project.id),
    actions: async () => {
      const filter = { since: 0, actor: undefined, target: undefined };
      return (await audit.list(project.id, filter, 100)).entries.map(({ action }) => action);
    },
    read: () => getProject(own({}), none, undefined),
    change: (body: Parameters<typeof changeProject>[0]['body']) => changeProject(own(body), none, undefined),
    test: () => sendTestEmail(own({}), none, undefined),
    create: (type: 'admin' | 'live') => createKey(own({ type }), none, undefined),
    rotate: (key = admin.id) => rotateKey(own({}, { key }), none, undefined),
    rename: (name: string | null) => changeKey(own({ name }, ofAdmin), none, undefined),
    restrict: (cidrs: string[]) => setAllowlist(own({ cidrs }, ofAdmin), none, undefined),
  };
}
type SetUp = Awaited<ReturnType<typeof setUp>>;

const NOTABLE: [string, (project: SetUp) => Promise<object>][] = [
  ['a change of the notification addresses', ({ change }) => change({ emails: ['new@example.com'] })],
  ['a new admin key', ({ create }) => create('admin')],
  ['a rotated admin key', ({ rotate }) => rotate()],
];

describe('the project', () => {
  it.each(NOTABLE)('gets an email at the old addresses about %s', async (_, act) => {
    const project = await setUp();
    await act(project);
    expect(project.state.emails).toMatchObject([{ to: OLD, text: expect.stringContaining('192.0.2.1') }]);
    expect(project.reportFailure).not.toHaveBeenCalled();
  });

  it.each(NOTABLE)('is changed by %s even if SES fails, which is an internal failure', async (_, act) => {
    const project = await setUp();
    project.state.isDown = true;
    expect(await act(project)).toHaveProperty('body');
    expect(await project.actions()).toHaveLength(1);
    expect(project.reportFailure.mock.calls).toEqual([
      ['notice.not_sent', expect.objectContaining({ project_id: expect.any(String) }), expect.any(Error)],
    ]);
  });

  it('is an internal failure when it is gone', async () => {
    const { project, read, change, create, reportFailure } = await setUp({ isGone: true });
    const gone = new Error(`There is no project ${project.id}`);
    await expect(read()).rejects.toThrow(gone);
    await expect(change({ name: 'New' })).rejects.toThrow(gone);
    await create('admin');
    expect(reportFailure.mock.calls).toEqual([['notice.not_sent', expect.anything(), gone]]);
  });

  it('gets no email about a live key, a new name or a rejected rotation', async () => {
    const { state, project, create, change, rotate } = await setUp();
    const live = await create('live');
    await rotate('body' in live ? live.body?.id : undefined);
    await change({ name: 'New' });
    await rotate();
    await rotate();
    expect(state.emails.map(({ subject }) => subject)).toEqual([`Admin key rotated (${project.id})`]);
  });
});

describe('a test email', () => {
  it('counts for the limit even if SES fails', async () => {
    const { state, test } = await setUp();
    state.isDown = true;
    await expect(test()).rejects.toThrow('SES is down');
    state.isDown = false;
    expect(await test()).toMatchObject({ code: 'too_many_requests' });
  });
});
