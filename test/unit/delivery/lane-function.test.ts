import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { create } from '../../../functions/deliver.ts';
import { connect } from '../../../lib/aws/backend.ts';
import { update } from '../../../lib/aws/expressions.ts';
import { itemKey } from '../../../lib/aws/items.ts';
import type { Lane } from '../../../lib/deliveries/lanes.ts';
import type { DeliveryMessage } from '../../../lib/deliveries/messages.ts';
import { LANE_QUEUES } from '../../../lib/deployment.ts';
import { putEvent } from '../../../lib/events/store.ts';
import { projects } from '../../../lib/projects/store.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import { newKey, newProject } from '../../memory/contracts/builders.ts';
import { RecordedDynamoDb } from '../../support/memory-table.ts';
import { type Command, runtimeWith, VARIABLES } from '../../support/runtime.ts';
import { event, message, now, webhook } from './builders.ts';

const failure = { statusCode: 500, error: 'status_not_2xx', durationMs: 10, waitedMs: 10, excerpt: null };

/** Runs the deliver function of a lane with one message to a failing endpoint, and returns its commands to other services. */
async function delivering(lane: Lane, overrides: Partial<DeliveryMessage> = {}, changes: Record<string, unknown> = {}) {
  const memory = new RecordedDynamoDb();
  const sent: Command[] = [];
  const runtime = runtimeWith(
    async (command) => {
      if (!['SendMessageBatch', 'CreateSchedule', 'SendEmail'].includes(command.name)) return memory.execute(command);
      sent.push(command);
      return {};
    },
    { variables: { ...VARIABLES, LANE: lane }, clock: () => now + 1000 },
  );
  const { table } = connect(runtime);
  const project = newProject();
  const space = { projectId: project.id, environment: 'live' } as const;
  await projects(table).create(project, newKey({ projectId: project.id }));
  await webhooks(table).create(
    webhook({ ...space, slowUntil: lane === 'slow' ? now + 60_000 : 0, quickSince: now }),
    [],
  );
  await table.write([putEvent(event(space))]);
  if (Object.keys(changes).length > 0) await table.write([update(itemKey.webhook(space, 'whk_1'), changes)]);
  const body = JSON.stringify(message({ ...space, ...overrides }));
  const Records = [{ messageId: '1', body, attributes: { ApproximateReceiveCount: '1' } }];
  await create(runtime, () => async () => failure)({ Records } as never, {} as Context);
  return sent;
}

describe.each(['quick', 'new', 'slow'] as const)('the deliver function of the %s lane', (lane) => {
  it('keeps retries in its lane', async () => {
    const [retry] = await delivering(lane);
    expect(retry).toMatchObject({
      name: 'SendMessageBatch',
      input: { QueueUrl: VARIABLES[LANE_QUEUES[lane]], Entries: [{ MessageGroupId: 'whk_1', DelaySeconds: 60 }] },
    });
  });

  it('schedules later retries by their name to the quick lane', async () => {
    const [retry] = await delivering(lane, { attempt: 3 });
    const { Name, Target } = retry?.input ?? {};
    expect([retry?.name, Name]).toEqual(['CreateSchedule', '1-1-0-4']);
    expect(JSON.parse(Target.Input)).toMatchObject({
      QueueUrl: VARIABLES.DELIVERIES_QUEUE_URL,
      MessageGroupId: 'whk_1',
    });
  });

  it.each([
    [4, 'Webhook failing'],
    [6, 'Webhook disabled'],
  ])('sends an email after the failed attempt %i', async (attempt, subject) => {
    const emails = (await delivering(lane, { attempt })).filter(({ name }) => name === 'SendEmail');
    expect(emails.map(({ input }) => input.Message.Subject.Data)).toEqual([expect.stringContaining(subject)]);
  });
});

it('forwards a message of a slow endpoint from another lane to the slow lane', async () => {
  const [forwarded] = await delivering('quick', {}, { slowUntil: now + 60_000 });
  expect(forwarded?.input).toMatchObject({
    QueueUrl: VARIABLES.SLOW_QUEUE_URL,
    Entries: [{ MessageGroupId: 'whk_1' }],
  });
});
