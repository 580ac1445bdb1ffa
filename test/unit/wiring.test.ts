import { randomBytes as random } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deliverDeps } from '../../functions/wiring.ts';
import type { Lane } from '../../lib/deliveries/lanes.ts';
import type { Email } from '../../lib/projects/emails.ts';
import { projects } from '../../lib/projects/store.ts';
import { newKey, newProject } from '../memory/contracts/builders.ts';
import { memoryTable } from '../support/memory-table.ts';
import { attempt, event, message, now, webhook } from './delivery/builders.ts';

/** The dependencies of the deliver function of a lane, with what its queues, schedules and emails received. */
async function setUp(lane: Lane) {
  const table = memoryTable();
  const project = newProject();
  await projects(table).create(project, newKey({ projectId: project.id }));
  const sent: unknown[] = [];
  const emails: Email[] = [];
  const queueOf = (name: Lane) => ({
    send: async (_message: unknown, delaySeconds?: number) => void sent.push([name, delaySeconds]),
    sendAll: async () => {},
  });
  const deps = deliverDeps({
    table,
    clock: () => now,
    random,
    log: { info() {}, warn() {} },
    reportFailure() {},
    queues: { quick: queueOf('quick'), new: queueOf('new'), slow: queueOf('slow') },
    lane,
    dashboardUrl: '',
    post: async () => ({ statusCode: 200, error: null, durationMs: 10, waitedMs: 10, excerpt: null }),
    schedule: async (name, { group }) => void sent.push([name, group]),
    sendEmail: async (email) => void emails.push(email),
    done() {},
  });
  return { deps, sent, emails, failing: { webhook: webhook({ projectId: project.id }), event: event() } };
}

describe.each(['quick', 'new', 'slow'] as const)('the deliver function of the %s lane', (lane) => {
  it('keeps retries and messages that wait for the rate limit in its lane', async () => {
    const { deps, sent } = await setUp(lane);
    await deps.retry(message(), { delaySeconds: 60, dueAt: now + 60_000 });
    await deps.delay(message(), 2);
    expect(sent).toEqual([
      [lane, 60],
      [lane, 2],
    ]);
  });

  it('schedules later retries by their name, and forwards messages to the given lane', async () => {
    const { deps, sent } = await setUp(lane);
    await deps.retry(message({ attempt: 4 }), { delaySeconds: 1800, dueAt: now + 1_800_000 });
    await deps.defer(message(), 'slow');
    expect(sent).toEqual([
      ['1-1-0-4', 'whk_1'],
      ['slow', undefined],
    ]);
  });

  it('warns about a failing webhook, and notifies about a disabled one', async () => {
    const { deps, emails, failing } = await setUp(lane);
    await deps.warningEmail.send({ ...failing, attempts: [attempt({ number: 4 })] });
    await deps.disabledEmail.send({ ...failing, attempts: [attempt({ number: 6 })] });
    expect(emails.map(({ subject }) => subject.split(':')[0])).toEqual(['Webhook failing', 'Webhook disabled']);
  });
});
