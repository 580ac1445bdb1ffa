import { afterAll, expect, it } from 'vitest';
import type { MappingProperties } from '../../infra/local/lambda/event-sources.ts';
import type { Template } from '../../infra/local/template.ts';
import { operations } from '../../lib/api/operations.ts';
import { itemKey } from '../../lib/aws/items.ts';
import { SET_ASIDE_PREFIX } from '../../lib/deployment.ts';
import { SETTLE_MS } from '../../lib/operators/deletion.ts';
import { runSchedule } from '../memory/simulation/scenario.ts';
import { readTemplate } from '../stack/local/gateway.ts';
import { changed } from '../support/changed.ts';
import { observeEntries, queueRecord, streamRecord } from '../support/entries.ts';
import { arn, lastPart, permissionsOf } from '../support/permissions.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { newScene, perform, performed, type Scene } from '../unit/promises/scene.ts';

const template = readTemplate();
const { functions, denied, unneeded, use, useCommand } = permissionsOf(template);

/** The schedules of the simulation, and the maximum if some permission was not needed yet. Changes of the code move rare calls. */
const [SCHEDULES, SCHEDULES_MAX] = [100, 1000];

/** What Lambda and Scheduler do with the roles (Lambda Developer Guide, "Lambda execution role", and of each event source). */
function useByServices(): void {
  for (const { role, logs } of functions.values())
    for (const action of ['logs:CreateLogStream', 'logs:PutLogEvents']) use(role, action, arn('local', logs));
  for (const { properties } of template.ofType<MappingProperties>('AWS::Lambda::EventSourceMapping')) {
    const { EventSourceArn: source, FunctionName, DestinationConfig } = properties;
    const role = [...functions.values()].find(({ id }) => id === FunctionName)?.role ?? '';
    const [service, actions] = source.includes(':sqs:')
      ? ['sqs', ['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage']]
      : ['dynamodb', ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams']];
    for (const action of actions) use(role, `${service}:${action}`, source);
    const bucket = DestinationConfig?.OnFailure.Destination;
    if (!bucket) continue;
    use(role, 's3:ListBucket', bucket);
    use(role, 's3:PutObject', `${bucket}/aws/lambda/record`);
    use(role, 's3:PutObject', `${bucket}/${SET_ASIDE_PREFIX}record`); // by the function, over HTTP
  }
  const {
    SCHEDULE_ROLE_ARN,
    DELIVERIES_QUEUE_URL,
    SCHEDULE_DLQ_ARN = '',
  } = functions.get('deliver quick')?.variables ?? {};
  for (const queue of [arn('sqs', lastPart(DELIVERIES_QUEUE_URL)), SCHEDULE_DLQ_ARN])
    use(lastPart(SCHEDULE_ROLE_ARN), 'sqs:SendMessage', queue);
}

/** Performs every operation: its first request, a repetition under the same idempotency key, and a page of a list. */
async function useOperations(): Promise<void> {
  for (const id of performed) {
    const scene = await newScene(id);
    const headers: Record<string, string> = operations[id].idempotencyKey ? { 'Idempotency-Key': 'same' } : {};
    for (const _ of ['first', 'again']) await perform(scene, id, { headers });
    await perform(scene, 'publishEvent');
    if (operations[id].method === 'GET') await perform(scene, id, { query: '?limit=1' });
    await scene.service.settle();
  }
}

/** Rejects requests after their idempotency keys are stored, reads the deliveries of a document, and reports an address. */
async function useRareRequests({ service, projectId, admin, webhook }: Scene): Promise<void> {
  await admin('GET', '/v1/events?include=outcome');
  await admin('GET', '/v1/events?document_key=a');
  await service.stopEmails(projectId, 'works@example.com', 'complained');
  const headers = { 'Idempotency-Key': 'rejected' };
  const documents = Array.from({ length: 32 }, (_, i) => `${'a'.repeat(60)}:${i}`);
  await admin('POST', '/v1/tokens', { body: { documents, permissions: ['read'], ttl: 60 }, headers });
  await admin('POST', '/v1/events', { body: changed({ note: 'x'.repeat(300_000) }), headers });
  await admin('GET', `/v1/webhooks/${webhook.id}/deliveries?document_key=w:1`);
}

/**
 * Sends a cycle twice at the same time, a patch of a deleted document, a write that is rejected under an idempotency key, and a
 * cycle that reads the log because it has many documents.
 */
async function useRareSyncs(scene: Scene): Promise<void> {
  const { service, projectId, admin } = scene;
  await Promise.all([perform(scene, 'sync'), perform(scene, 'sync')]);
  await perform(scene, 'deleteDocument');
  await perform(scene, 'patchDocument');
  await perform(scene, 'putDocument', { headers: { 'Idempotency-Key': 'rejected', 'If-Match': '"9"' } });
  const keys = Array.from({ length: 1001 }, (_, i) => `many:${i}`);
  const space = { projectId, environment: 'live' } as const;
  service.db.put(keys.map((key) => ({ ...itemKey.revision(space, key), revision: 1, updatedAt: 0 })));
  const cycle = { node_id: 'n', pattern: 'many:*', push: [] };
  const known = Object.fromEntries(keys.map((key) => [key, 1]));
  const { checkpoint } = (await admin('POST', '/v1/sync', { body: { ...cycle, known } })).body;
  await admin('POST', '/v1/sync', { body: { ...cycle, since: checkpoint } });
}

/** Disables a webhook in the slow lane. Then runs the operations of an operator, until the project is deleted. */
async function useOfOperator(scene: Scene): Promise<void> {
  const { service, admin, projectId: id } = scene;
  const { id: webhookId } = await createWebhook(admin, service.endpoint(500).url);
  const eventId = (await publish(admin)).body.id;
  const message = { webhookId, eventId, projectId: id, environment: 'live', run: 0 };
  const last = JSON.stringify({ ...message, attempt: 6, trigger: 'schedule' });
  await service.invoke('deliver slow', { Records: [queueRecord('1', last)] });
  await service.invoke('create-project', { name: 'Other', email: 'other@example.com' });
  const stored = [...service.db.items()].find(({ pk, sk }) => sk === eventId && String(pk).startsWith('EVENT#'));
  await service.invoke('fan-out', { Records: [streamRecord(undefined, stored, '1')], isReplay: true });
  type Result = { next: object | null; state: string };
  const run = (operation: string, members: object = { id }) =>
    service.invoke('projects', { operation, ...members }) as Promise<Result>;
  await run('list', {});
  for (const operation of ['suspend', 'resume', 'create-key']) await run(operation);
  await run('enable-webhooks', { id, since: '2020-01-01T00:00:00Z' });
  await perform(scene, 'changeWebhook', { members: { max_per_second: 1 } });
  await perform(scene, 'publishEvent', { headers: { 'Idempotency-Key': 'same' } });
  await perform(scene, 'sync');
  await service.settle();
  for (const lease of ['renewConnection', 'renewEngine'] as const) await perform(scene, lease);
  for (let { next } = await run('export'); next; ) ({ next } = await run('export', { id, after: next }));
  const { pk: section } = itemKey.delivery(webhookId, eventId);
  await run('export', { id, after: { section, webhook: webhookId } });
  await run('delete', { id, name: 'Test' });
  service.clock.skip(SETTLE_MS);
  while ((await run('delete')).state !== 'deleted');
}

/** The variables that only a setting or the local stack sets. */
const NOT_BY_DEFAULT = ['ALLOW_PRIVATE_ENDPOINTS', 'SOURCE_ADDRESSES'];
/** The variables that only the previous release reads. After its end, remove them (`infra/UPGRADES.md`). */
const READ_BY_PREVIOUS = [
  'deliver slow NEW_QUEUE_URL',
  ...['deliver quick', 'deliver new', 'deliver slow', 'email-events'].map((name) => `${name} DASHBOARD_URL`),
];
/** The variables that each function has read. */
const read = new Map([...functions.keys()].map((name) => [name, new Set<string>()]));
const useVariable = (name: string, variable: string) => void read.get(name)?.add(variable);

observeEntries({ command: useCommand, variable: useVariable });
useVariable('dashboard', 'BASE_URL'); // its pages are files of the synthesis, so `test/stack/flows/http` starts it
afterAll(() => observeEntries(undefined));

it('a grant is needed for each of its resources separately', () => {
  const Resource = ['a', 'b'].map((name) => `arn:aws:s3:::bucket/${name}/*`);
  const Statement = [{ Effect: 'Allow', Action: 's3:PutObject', Resource }];
  const policy = { id: 'Policy', properties: { Roles: ['role'], PolicyDocument: { Statement } } };
  const ofType = (type: string) => (type === 'AWS::IAM::Policy' ? [policy] : []);
  const { use, unneeded } = permissionsOf({ ofType } as unknown as Template);
  use('role', 's3:PutObject', 'arn:aws:s3:::bucket/a/1');
  expect(unneeded()).toEqual([expect.stringContaining('bucket/b/*')]);
});

it('every function has the variables that it reads, and every role the permissions that its function and AWS need, and no others', async () => {
  useByServices();
  await useOperations();
  await useRareRequests(await newScene());
  await useRareSyncs(await newScene());
  await useOfOperator(await newScene());
  for (let seed = 1; seed <= SCHEDULES || (seed <= SCHEDULES_MAX && unneeded().length > 0); seed++)
    await runSchedule({ seed });
  expect([...denied]).toEqual([]);
  expect(unneeded()).toEqual([]);
  for (const [name, { variables }] of functions) {
    const isRead = (each: string) => !each.startsWith('POWERTOOLS_') && !READ_BY_PREVIOUS.includes(`${name} ${each}`);
    const set = Object.keys(variables).filter(isRead);
    const used = [...(read.get(name) ?? [])].filter((each) => !NOT_BY_DEFAULT.includes(each));
    expect(used.sort(), name).toEqual(set.sort());
  }
});
