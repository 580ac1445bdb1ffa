import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { targetOf } from '../../../infra/commands/target.ts';
import { parse } from '../../../infra/commands/usage.ts';
import { USAGE } from '../../../infra/local/arguments.ts';
import { createDirectory } from '../../../infra/local/kept.ts';
import { UserError } from '../../../infra/user-error.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish, settled } from '../../support/requests.ts';
import { type Client, eventually, request } from '../../support/service.ts';
import { argumentsOf, isRunning, LOOPBACK, listeningAddresses, processesOf } from './processes.ts';

const directory = temporaryDirectory();
const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill();
});

/** Runs `npm start` with these options on free ports. */
const run = (...options: string[]) => runCommand(process.execPath, ['infra/local/main.ts'], options);

function runCommand(command: string, before: readonly string[], options: readonly string[] = []) {
  const args = [...before, '--port', '0', '--directory', directory, ...options];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const ended = once(child, 'exit').then(([code]) => ({ code, output }));
  return {
    ended,
    pid: child.pid as number,
    output: () => output,
    async ready() {
      await eventually(() => output.includes('Press Ctrl-C') || child.exitCode !== null, 50_000);
      const stack = JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'));
      const client: Client = (method, path, call = {}) =>
        request(stack.base_url, method, path, { ...call, headers: { Authorization: `Bearer ${stack.keys.live}` } });
      return { output, stack, client };
    },
    stop(signal: NodeJS.Signals = 'SIGINT') {
      child.kill(signal);
      return ended;
    },
  };
}

describe.each([
  ['memory', 1],
  ['dynoxide', 3], // with the database and its guard
])('npm start --keep with %s', (name, processes) => {
  const options = ['--keep', '--speed', '600', '--database', name];
  let service: ReturnType<typeof run>;
  beforeAll(() => {
    service = run(...options);
  });
  afterAll(() => service.stop('SIGKILL'));

  it('listens only on loopback, and shows its secrets only to its user', async () => {
    const { output, stack } = await service.ready();
    const pids = processesOf(service.pid);
    expect(pids).toHaveLength(processes);
    expect(listeningAddresses(pids)).toEqual([LOOPBACK, LOOPBACK, LOOPBACK, LOOPBACK]);
    expect(statSync(join(directory, 'stack.json')).mode & 0o777).toBe(0o600);
    expect(output).toContain(`webhook secret  ${stack.webhook_secret}\n`);
    expect(output).toMatch(/ {2}dashboard {7}http:\/\/127\.0\.0\.1:\d+\/_local\/sign-in#[\w-]{22}\n/);
  });

  it('continues after a crash, with the same keys and pending deliveries, one process at a time, and leaves nothing behind', async () => {
    const endpoint = await startReceiver(500);
    const before = await service.ready();
    const second = await run(...options).ended;
    expect(second).toEqual({ code: 1, output: expect.stringMatching(/^Another `npm start -- --keep` uses .+\.\n$/) });
    const webhook = await createWebhook(before.client, endpoint.url);
    const { body: event } = await publish(before.client);
    const path = `/v1/webhooks/${webhook.id}/deliveries/${event.id}`;
    await eventually(async () => (await before.client('GET', path)).body.attempts?.length === 3);
    await service.stop('SIGKILL');
    endpoint.behave(200);
    const third = run(...options);
    const after = await third.ready(); // with its own stack.json
    expect(after.stack.base_url).not.toBe(before.stack.base_url);
    expect(after.stack.keys).toEqual(before.stack.keys);
    expect(after.stack.webhook_secret).toBe(before.stack.webhook_secret);
    const delivery = await settled(after.client, webhook.id, event.id);
    expect([delivery.status, delivery.attempts.length, endpoint.received.length]).toEqual(['succeeded', 4, 4]);
    const pids = processesOf(third.pid);
    expect((await third.stop()).code).toBe(0);
    await eventually(() => !pids.some(isRunning));
    expect(existsSync(join(directory, 'stack.json'))).toBe(false);
  });
});

describe('npm start', () => {
  it('does not replace stack.json while another stack of the directory runs, and leaves nothing behind when npm or the stack is ended', async () => {
    const file = () => JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'));
    const first = run();
    const { stack } = await first.ready();
    const npm = runCommand('npm', ['start', '--']);
    await eventually(() => npm.output().includes('pass --directory'), 50_000);
    const [, own = ''] = /pass --directory (.+)\n/.exec(npm.output()) ?? [];
    expect([file(), dirname(own)]).toEqual([stack, directory]);
    expect(targetOf({ directory }, 'live', {})).toEqual({ baseUrl: stack.base_url, key: stack.keys.live });
    const { baseUrl } = targetOf({ directory: own }, 'admin', {});
    expect(npm.output()).toContain(`Ready: ${baseUrl}\n`);
    const list = ['infra/commands/ops.ts', 'projects', 'list', '--directory', own];
    expect((await promisify(execFile)(process.execPath, list)).stdout).toContain('"name":"Demo"');

    const ofNpm = processesOf(npm.pid);
    expect(ofNpm.length).toBeGreaterThan(3);
    await npm.stop('SIGTERM');
    await eventually(() => !ofNpm.some(isRunning));
    expect([file(), existsSync(own)]).toEqual([stack, false]);

    const pids = processesOf(first.pid);
    const database = pids.flatMap((pid) => argumentsOf(pid)).find((argument) => argument.endsWith('dynoxide.db'));
    await first.stop('SIGKILL');
    await eventually(() => !pids.some(isRunning));
    if (database) expect(existsSync(dirname(database))).toBe(false);
  });

  it('stops with a short message when the kept table has a different layout', async () => {
    const other = temporaryDirectory();
    const kept = join(other, 'kept/memory');
    mkdirSync(kept, { recursive: true });
    writeFileSync(join(kept, 'demo.json'), JSON.stringify({ receiver_port: 0, webhook_secret: 'secret' }));
    const { code, output } = await run('--keep', '--database', 'memory', '--directory', other).ended;
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(`The kept table has a different layout. Delete ${kept}, or start`),
    ]);
  });

  it('rejects an invalid port with a short message', async () => {
    const { code, output } = await run('--port', 'http').ended;
    expect([code, output]).toEqual([1, '--port must be an integer from 0 to 65535.\n']);
  });

  it.each(['/dev/null/x', '/proc/x', 'package.json'])('rejects the directory %s with a short message', (path) => {
    expect(() => createDirectory(resolve(path))).toThrow(UserError);
    expect(() => createDirectory(resolve(path))).toThrow(/^Cannot use .+: .+\.$/);
  });

  it('explains its options on one screen', () => {
    const lines = String(parse(USAGE, ['--help'])).split('\n');
    expect(lines.length).toBeLessThan(24);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(120);
    for (const name of ['port', 'receiver-port', 'speed', 'concurrency', 'database', 'keep', 'directory', 'help'])
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^  --${name} `)));
  });
});
