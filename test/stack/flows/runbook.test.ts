import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { itemKey } from '../../../lib/aws/items.ts';
import { SET_ASIDE_PREFIX } from '../../../lib/deployment.ts';
import { SETTLE_MS } from '../../../lib/projects/deletion.ts';
import { code } from '../../support/documents.ts';
import { type Operator, startOperator } from '../../support/operator.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, deliveryOf, publish, settled } from '../../support/requests.ts';
import { eventually, useService } from '../../support/service.ts';
import { stackPerformers } from '../../support/stack-performers.ts';
import { copyTable } from '../../support/table-performers.ts';

const service = useService({ speed: 1000, visibilitySpeed: 1000 });

/** The commands of the runbook: its blocks of shell code, and the inline code that starts with a command. */
const runbook = readFileSync(new URL('../../../infra/RUNBOOK.md', import.meta.url), 'utf8');
const blocks = [...runbook.matchAll(/```sh\n([\s\S]*?)\n *```/g)].map(([, text = '']) => text.replace(/^ {3}/gm, ''));
const inline = [...runbook.replace(/```[\s\S]*?```/g, '').matchAll(/`((?:aws|npm|npx|git) [^`]+)`/g)].map(
  ([, text = '']) => text,
);
const commands = [...new Set([...blocks, ...inline])];
const ran = new Set<string>();

/** The commands for services that a local stack lacks. Their options are checked against the models of AWS. */
const NOT_LOCAL: Record<string, string> = {
  apigateway: 'the local gateway reads the usage plan from the template',
  sesv2: 'the reputation belongs to the account',
  wafv2: 'a local stack has no firewall',
  kms: 'a local stack encrypts nothing',
  sns: 'a local stack sends no alarms',
};

/** The commands that no test here runs. */
const NOT_RUN: Record<string, string> = {
  'git checkout <release>\nnpm ci\nnpx cdk deploy <all parameters of the last deployment>':
    'a deployment needs an AWS account, and test/stack/long/upgrades tests its effects',
};

let operator: Operator;
beforeAll(async () => {
  operator = await startOperator(stackPerformers(service.stack));
});

/** The block that defines the function for logical ids, which all other commands can use. */
const [lookUp = ''] = blocks.filter((each) => each.includes('of() {'));
ran.add(lookUp);

/** Runs the only command that contains a text, with values for its placeholders. */
async function run(part: string, values: Record<string, string> = {}, before = ''): Promise<string> {
  const [command = '', ...others] = commands.filter((each) => each.includes(part));
  expect([command === '', others], part).toEqual([false, []]);
  ran.add(command);
  const filled = command.replace(/<([^>]+)>/g, (_, name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${command}: there is no value for <${name}>`);
    return value;
  });
  return operator.run(`${lookUp}\n${before}${filled}`);
}

const failedSchedules = () => service.stack.queues.get('FailedSchedules');
const bucket = () => [...service.stack.buckets][0] ?? ['', new Map<string, string>()];
const names = () => ({
  FailedEventsBucket: bucket()[0].split(':').at(-1) ?? '',
  FanOutFunction: [...service.stack.functions.keys()].find((id) => id.startsWith('DeliveryFanOut')) ?? '',
  FailedSchedulesQueue: service.stack.template.ref('FailedSchedules'),
});

it('moves a dead letter back to its queue, and delivers it', async () => {
  const { stack } = service;
  const live = await (await service.project()).client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url);
  const letters = stack.queues.get('DeadLetters');
  const mappings = [...stack.mappings.values()].filter(({ EventSourceArn }) => stack.queueAt(EventSourceArn));
  for (const mapping of mappings) mapping.Enabled = false;
  const { id } = (await publish(live)).body;
  const queue = await eventually(() => [...stack.queues.values()].find(({ hasVisible }) => hasVisible));
  const [message] = queue.receive(1);
  queue.delete(message?.receiptHandle ?? '');
  letters?.send(message?.body ?? '', { group: message?.group });
  for (const mapping of mappings) mapping.Enabled = true;
  expect([letters?.counts().visible, receiver.received]).toEqual([1, []]);

  await run('start-message-move-task');
  const [delivered] = await receiver.until(1);
  expect([delivered?.headers['x-service-event-id'], letters?.counts().visible]).toEqual([id, 0]);
});

it('cannot move the messages of failed schedules, but sends them', async () => {
  const { stack } = service;
  const project = await service.project();
  const live = await project.client('live');
  const receiver = await startReceiver();
  const webhook = await createWebhook(live, receiver.url, { events: ['sync.conflict'] });
  const { id } = (await publish(live)).body;
  const message = { webhookId: webhook.id, eventId: id, projectId: project.id, environment: 'live', run: 0 };
  const body = JSON.stringify({ ...message, attempt: 4, trigger: 'schedule' });
  failedSchedules()?.send(JSON.stringify({ QueueUrl: stack.template.ref('Deliveries'), MessageBody: body }));
  const arn = failedSchedules()?.settings.arn ?? '';
  await expect(operator.run(`aws sqs start-message-move-task --source-arn ${arn}`)).rejects.toThrow(
    'must be configured as a Dead Letter Queue',
  );
  expect(await run('npm run replay -- schedules', names())).toContain('Sent 1 messages.');
  await receiver.until(1);
});

it('replays failed events, and deletes the events that always fail', async () => {
  const project = await service.project();
  const live = await project.client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url);
  const { body } = await publish(live);
  await receiver.until(1);
  const [, objects] = bucket();
  const { pk, sk } = itemKey.event({ projectId: project.id, environment: 'live' }, body.id);
  const objectOf = (members: object) => {
    const at = { N: String(service.stack.clock.now()) };
    const NewImage = { pk: { S: pk }, sk: { S: sk }, type: { S: body.type }, at, ...members };
    const record = { eventName: 'INSERT', eventSource: 'aws:dynamodb', dynamodb: { SequenceNumber: '1', NewImage } };
    return JSON.stringify({ payload: JSON.stringify({ Records: [record] }) });
  };
  const [good, bad] = [`${SET_ASIDE_PREFIX}good`, `${SET_ASIDE_PREFIX}bad`];
  objects.set(good, objectOf({ body: { S: JSON.stringify(body) } }));
  objects.set(bad, objectOf({}));
  await expect(run('npm run replay -- events', names())).rejects.toThrow(`Not replayed: ${bad}`);
  expect([...objects.keys()]).toEqual([bad]);
  await run('aws s3 rm', { ...names(), key: bad });
  expect(objects.size).toBe(0);
});

it('finds a stopped mapping, and starts it again', async () => {
  const { stack } = service;
  const mapping = stack.mappings.get('FanOutSource');
  if (!mapping) throw new Error('The template has no FanOutSource');
  mapping.Enabled = false;
  expect(JSON.parse(await run('get-event-source-mapping'))).toEqual(['Disabled', 'User action', 'OK']);
  await run('$(of FanOutSource) --enabled');
  expect(mapping.Enabled).toBe(true);
  const fn = stack.functions.get(names().FanOutFunction);
  if (fn) fn.reservedConcurrency = 0;
  await run('delete-function-concurrency', names());
  expect(fn?.reservedConcurrency).toBe(Number.POSITIVE_INFINITY);
});

it('delivers events that the stream dropped, and repeats no recorded attempt', async () => {
  const live = await (await service.project()).client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url);
  const first = (await publish(live)).body.id;
  await receiver.until(1);
  const fanOut = service.stack.functions.get(names().FanOutFunction);
  if (!fanOut) throw new Error('The template has no FanOut');
  const spy = vi.spyOn(fanOut, 'invoke').mockResolvedValue({ batchItemFailures: [] }); // never receives the event
  const dropped = (await publish(live)).body.id;
  await eventually(() => JSON.stringify(spy.mock.calls).includes(dropped));
  spy.mockRestore();
  const time = new Date(Date.now() - 3_600_000).toISOString();
  expect(await run('npm run replay -- since', { time, stack: 'Service' })).toMatch(/Replayed \d+ events/);
  await receiver.until(2);
  const { queues } = service.stack;
  await eventually(() =>
    ['Deliveries', 'NewDeliveries', 'SlowDeliveries'].every((name) => {
      const { visible = 0, inFlight = 0 } = queues.get(name)?.counts() ?? {};
      return visible + inFlight === 0;
    }),
  );
  expect(receiver.received.map(({ headers }) => headers['x-service-event-id'])).toEqual([first, dropped]);
});

it('stops all deliveries, and starts them again without a loss', async () => {
  const live = await (await service.project()).client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url);
  await run('--no-enabled');
  const { id } = (await publish(live)).body;
  const { queues } = service.stack;
  await eventually(() => [...queues.values()].some(({ hasVisible }) => hasVisible));
  expect(receiver.received).toEqual([]);
  await run('$(of $LANE) --enabled');
  const [delivered] = await receiver.until(1);
  expect(delivered?.headers['x-service-event-id']).toBe(id);
});

it('enables the webhooks that failed deliveries disabled, and delivers their events', async () => {
  const live = await (await service.project()).client('live');
  const receiver = await startReceiver(500);
  const webhook = await createWebhook(live, receiver.url);
  const { id } = (await publish(live)).body;
  await settled(live, webhook.id, id);
  receiver.behave(200);
  const values = { stack: 'Service', time: new Date(service.stack.clock.now() - 3_600_000).toISOString() };
  await run('enable-webhooks', values);
  expect((await live('GET', `/v1/webhooks/${webhook.id}`)).body.status).toBe('enabled');
  await eventually(async () => (await deliveryOf(live, webhook.id, id))?.status === 'succeeded');
});

it('suspends, resumes, exports and deletes a project, from the first to the last command', async () => {
  const project = await service.project('Leaving');
  const status = async () => code(await project.admin('GET', '/v1/keys'))[0];
  const values = { stack: 'Service', project: project.id, file: join(mkdtempSync(join(tmpdir(), 'export-')), 'lines') };
  expect(await run('projects -- list', values)).toContain(project.id);
  await run('projects -- suspend', values);
  expect(await status()).toBe(403);
  const printed = await run('projects -- create-key', values);
  const created = JSON.parse(printed.slice(printed.indexOf('{')));
  await run('projects -- resume', values);
  expect([await status(), code(await service.as(created.key)('GET', '/v1/keys'))[0]]).toEqual([200, 200]);
  await run('projects -- export', values);
  expect(readFileSync(values.file, 'utf8')).toContain(project.email);
  const deletion = run('projects -- delete', values, 'echo Leaving | ');
  await eventually(async () => (await status()) === 401);
  service.stack.clock.advance(SETTLE_MS);
  for (const printed of [await deletion, await run('projects -- show', values)])
    expect(printed).toContain('"state": "deleted"');
});

it('restores the table, and queues its deliveries', async () => {
  const { stack } = service;
  const time = new Date(await copyTable(stack)).toISOString();
  expect(await run('npm run restore -- --at', { time })).toContain('npx cdk deploy --parameters ConfirmTable=');
  // `test/stack/long/restore.test.ts` deploys the restored table first.
  await expect(run('npm run restore -- --resume', { time })).rejects.toThrow(
    'Deploy it with the restored table first.',
  );
  const { ref } = stack.template;
  expect(await run('describe-table', { table: ref.call(stack.template, 'Table') })).toContain('/stream/');
});

it('encrypts a table with the key of a new stack', async () => {
  await run('--sse-specification', { table: service.stack.tableName });
  expect(operator.called.at(-1)).toBe('dynamodb UpdateTable');
});

it.each([
  ['continue-update-rollback', 'cloudformation ContinueUpdateRollback'],
  ['cancel-update-stack', 'cloudformation CancelUpdateStack'],
])('rolls a deployment back: %s', async (command, called) => {
  await run(command);
  expect(operator.called.at(-1)).toBe(called);
});

it('finds a message that always fails in the log', async () => {
  service.stack.queues.get('Deliveries')?.send('{}');
  const found = await eventually(async () => {
    const { events } = JSON.parse(await run('delivery.handling_failed'));
    return events.length > 0 && events;
  });
  expect(JSON.parse(found[0].message)).toMatchObject({ message_id: expect.any(String), error: expect.any(Object) });
});

it('finds the requests of a leaked key in the access log', async () => {
  const project = await service.project();
  const { body: key } = await project.admin('POST', '/v1/keys', { body: { type: 'live' } });
  expect(code(await service.as(key.key)('GET', '/v1/webhooks'))[0]).toBe(200);
  const period = { from: '0', to: '9999999999999' };
  for (const printed of [
    await run('"<id of the key>"', { 'id of the key': key.id }),
    await run('"<credential>"', { credential: key.id, ...period }),
  ]) {
    const { events } = JSON.parse(printed);
    expect(events.map(({ message }: { message: string }) => JSON.parse(message).resource)).toEqual(['/v1/webhooks']);
  }
});

it.each(
  commands.filter((each) => Object.keys(NOT_LOCAL).some((name) => each.includes(`aws ${name}`))),
)('has only valid options: %s', async (command) => {
  const before = operator.called.length;
  await run(command, {
    key: '1234abcd-12ab-34cd-56ef-1234567890ab',
    value: 'a-value-of-at-least-20-characters',
    account: '123456789012',
    region: 'eu-central-1',
    address: 'ops@example.com',
  });
  const called = operator.called.slice(before);
  expect(called.length).toBeGreaterThan(0);
  const looked = 'cloudformation DescribeStackResource';
  for (const name of called.filter((each) => each !== looked))
    expect(Object.keys(NOT_LOCAL)).toContain(name.split(' ')[0]);
});

it('has no option that AWS does not know', async () => {
  await expect(operator.run('aws kms enable-key --key abc')).rejects.toThrow('Unknown option: --key');
  await expect(operator.run('aws kms enable-key')).rejects.toThrow('KeyId');
});

afterAll(() => {
  expect(
    commands.filter((each) => !ran.has(each) && !NOT_RUN[each]),
    'commands of the runbook without a test',
  ).toEqual([]);
});
