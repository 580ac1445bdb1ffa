import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import type { Shell } from '../../infra/commands/command.ts';
import { ops } from '../../infra/commands/ops.ts';
import { changed } from '../support/changed.ts';
import { startReceiver } from '../support/receiver.ts';
import { createWebhook, publish } from '../support/requests.ts';
import { ran } from '../support/shell.ts';
import { clientOf, outputsOf } from './account.ts';
import { STACK } from './checkout.ts';
import { useDeployment } from './deployed.ts';

const service = useDeployment();
const command = (...args: string[]) => service.checkout.ops(...args, '--stack', STACK);

/** Runs a command whose pauses move the time of the emulator. */
async function withoutPauses(...args: string[]) {
  const members: Partial<Shell> = {
    deploymentFile: join(service.checkout.directory, 'deployment.json'),
    client: (type) => clientOf(type as unknown as new (options: object) => never, service.emulator),
    wait: async (ms) => service.emulator.advance(ms),
  };
  const { status, stdout, stderr } = await ran(ops, [...args, '--stack', STACK], {}, members);
  expect([status, stderr]).toEqual([0, expect.anything()]);
  return stdout + stderr;
}

it('suspend, resume and export a project', async () => {
  const { id, admin } = await service.project('Suspended');
  expect(await command('projects', 'list')).toContain(id);
  await command('projects', 'suspend', id);
  expect((await admin('GET', '/v1/project')).body.code).toBe('project_suspended');
  await command('projects', 'resume', id);
  expect((await admin('GET', '/v1/project')).status).toBe(200);
  await command('projects', 'export', id, '--output', 'export.jsonl');
  const lines = readFileSync(join(service.checkout.directory, 'export.jsonl'), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line)).length).toBeGreaterThan(1);
  const { key } = JSON.parse(await command('projects', 'create-key', id));
  expect((await service.as(key)('GET', '/v1/project')).body.id).toBe(id);
});

it('replay stored events, events that were set aside, and retries without a schedule', async () => {
  const live = await (await service.project('Replayed')).client('live');
  const event = await publish(live, changed());
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url, { events: ['document.changed'] });
  const since = new Date(Date.now() - 60_000).toISOString();
  expect(await command('replay', 'since', since)).toMatch(/^Replayed [1-9]\d* events\.\n$/);
  const { FailedEventsBucket: Bucket } = await outputsOf(service.emulator);
  const payload = JSON.stringify({ Records: [] });
  const Body = JSON.stringify({ payload });
  const stored = { Bucket, Key: 'set-aside/1', Body };
  await clientOf(S3Client, service.emulator).send(new PutObjectCommand(stored));
  expect(await command('replay', 'events')).toBe('Replayed 1 objects.\n');
  expect(await command('replay', 'events')).toBe('Replayed 0 objects.\n');
  expect(await command('replay', 'schedules')).toBe('Sent 0 messages.\n');
  expect(event.status).toBe(202);
});

it('restore the table, which a deployment then uses', async () => {
  const project = await service.project('Restored');
  const at = new Date(Date.now() - 6 * 60_000).toISOString();
  expect(await withoutPauses('restore', '--at', at)).toContain('deployment.json now names the table.');
  const settings = JSON.parse(readFileSync(join(service.checkout.directory, 'deployment.json'), 'utf8'));
  const assembly = await service.checkout.synthesize(settings);
  const { status, output } = await service.checkout.deploy(
    assembly,
    '--parameters',
    `ConfirmTable=${settings.table.name}`,
  );
  expect([status, output]).toEqual([0, expect.anything()]);
  expect(await withoutPauses('restore', '--at', at, '--resume')).toMatch(/^Queued \d+ deliveries in progress/);
  expect((await project.admin('GET', '/v1/project')).body.id).toBe(project.id);
  const { TableNames } = await clientOf(DynamoDBClient, service.emulator).send(new ListTablesCommand());
  expect(TableNames).toHaveLength(2);
});

it('delete a project to its end', async () => {
  const { id, admin } = await service.project('Deleted');
  expect(await withoutPauses('projects', 'delete', id, '--name', 'Deleted')).toContain('The project is deleted.');
  expect((await admin('GET', '/v1/project')).status).toBe(401);
  expect(await command('projects', 'list')).not.toContain(id);
});
