import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { targetOf } from '../../../infra/commands/target.ts';
import { openState } from '../../../infra/local/services/state.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { keepDemo, npmStart } from '../../support/npm-start.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish, settled } from '../../support/requests.ts';
import { eventually, request } from '../../support/service.ts';
import { argumentsOf, isRunning, processesOf } from './processes.ts';

const directory = temporaryDirectory();

it.each([
  ['memory', 'SIGINT'],
  ['dynoxide', 'SIGHUP'],
] as const)('continues after a crash with %s, with the same keys and pending deliveries, and leaves nothing behind after %s', async (database, signal) => {
  const start = (...options: string[]) =>
    npmStart(directory, ['--keep', '--speed', '600', '--database', database, ...options]);
  const first = start();
  const endpoint = await startReceiver(500);
  const before = await first.ready();
  const headers = { Authorization: `Bearer ${before.stack.keys.admin}` };
  await request(before.stack.base_url, 'POST', '/v1/keys', { body: { type: 'admin', name: 'New' }, headers });
  const emails = async ({ stack }: typeof before) => (await request(stack.mail_url, 'GET', '', {})).body;
  const email = await eventually(async () => (await emails(before))[0]);
  const text = expect.stringMatching(new RegExp(`^[^<]+\n${before.stack.dashboard_url}#[^<]+$`));
  const members = { subject: expect.any(String), text, at: expect.any(String) };
  const addresses = { to: 'demo@example.com', from: 'notifications@example.com' };
  expect(email).toEqual({ ...addresses, ...members, html: expect.stringMatching(/^</) });
  const webhook = await createWebhook(before.client, endpoint.url);
  const { body: event } = await publish(before.client);
  const path = `/v1/webhooks/${webhook.id}/deliveries/${event.id}`;
  await eventually(async () => (await before.client('GET', path)).body.attempts?.length === 3);
  await first.stop('SIGKILL');
  endpoint.behave(200);
  const second = start();
  const after = await second.ready(); // with its own stack.json
  expect(after.stack.base_url).not.toBe(before.stack.base_url);
  expect(after.stack.keys).toEqual(before.stack.keys);
  expect(await emails(after)).toEqual([email]);
  expect(after.stack.webhook_secret).toBe(before.stack.webhook_secret);
  const delivery = await settled(after.client, webhook.id, event.id);
  expect([delivery.status, delivery.attempts.length, endpoint.received.length]).toEqual(['succeeded', 4, 4]);
  await publish(after.client);
  await eventually(() => second.output().includes('[receiver] ✓ verified')); // with the kept port and secret
  const pids = processesOf(second.pid);
  expect((await second.stop(signal)).code).toBe(0);
  await eventually(() => !pids.some(isRunning));
  expect(existsSync(join(directory, 'stack.json'))).toBe(false);
  const places = openState(join(directory, 'kept', database))?.positions.keys() ?? [];
  const consumers = new Set(Array.from(places, (place) => place.split(' ')[0]));
  expect(consumers.size, 'the fan-out and the stats continue at separate positions').toBe(2);
});

it('does not replace stack.json while another stack of the directory runs, and leaves nothing behind when npm or the stack is ended', async () => {
  const file = () => JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'));
  const first = npmStart(directory);
  const { stack } = await first.ready();
  const npm = npmStart(directory, [], ['npm', 'start', '--']);
  await eventually(() => npm.output().includes('pass --directory'));
  const [, own = ''] = /pass --directory (.+)\n/.exec(npm.output()) ?? [];
  expect([file(), dirname(own)]).toEqual([stack, directory]);
  expect(existsSync(join(own, 'functions.log'))).toBe(true);
  expect(targetOf({ directory }, 'live', {})).toEqual({ baseUrl: stack.base_url, key: stack.keys.live });
  const { baseUrl } = targetOf({ directory: own }, 'admin', {});
  expect(npm.output()).toContain(`Ready: ${baseUrl}\n`);
  const projects = (action: string, ...id: string[]) => {
    const args = ['infra/commands/ops.ts', 'projects', action, ...id, '--directory', own];
    return spawnSync(process.execPath, args, { encoding: 'utf8' });
  };
  const { stdout } = projects('list');
  expect(stdout).toContain('"name":"Demo"');
  const stderr = expect.stringMatching(/The question has no answer, so nothing was changed\.\n$/);
  expect(projects('delete', JSON.parse(stdout).id)).toMatchObject({ status: 1, stdout: '', stderr });

  const end = async ({ pid, stop }: Pick<typeof first, 'pid' | 'stop'>, signal: NodeJS.Signals) => {
    const pids = processesOf(pid);
    const database = pids.flatMap(argumentsOf).find((argument) => argument.endsWith('dynoxide.db'));
    await stop(signal);
    await eventually(() => !pids.some(isRunning));
    if (database) expect(existsSync(dirname(database)), signal).toBe(false);
    return pids.length;
  };
  expect(await end(npm, 'SIGTERM')).toBeGreaterThan(3);
  expect([file(), existsSync(own)]).toEqual([stack, false]);
  await end(first, 'SIGKILL');
});

it('stops with a short message when the kept table has a different layout', async () => {
  const other = temporaryDirectory();
  const kept = keepDemo(other, {});
  const { code, output } = await npmStart(other, ['--keep', '--database', 'memory']).ended;
  expect([code, output]).toEqual([
    1,
    expect.stringContaining(`The kept table has a different layout. Delete ${kept}, or start`),
  ]);
});

it.each(['memory', 'dynoxide'])('states that the data in %s has reached its limit', async (database) => {
  const other = temporaryDirectory();
  const program = npmStart(other, ['--database', database, '--max-database-mb', '1']);
  const { client } = await program.ready();
  const body = { fields: { text: 'x'.repeat(90_000) } };
  for (let i = 0; i < 20; i++) await client('PUT', `/v1/documents/large-${i}`, { body });
  const message = 'The database has 1 MB, so the oldest events are deleted.';
  await eventually(() => program.output().includes(message));
});
