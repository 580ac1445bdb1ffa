import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parse } from '../../infra/commands/command.ts';
import { request, targetOf } from '../../infra/commands/target.ts';

const COMMANDS = {
  'npm start': 'infra/local/main.ts',
  'npm run listen': 'infra/commands/listen.ts',
  'npm run trigger': 'infra/commands/trigger.ts',
  'npm run replay': 'infra/commands/replay.ts',
  'npm run projects': 'infra/commands/projects.ts',
  'npm run restore': 'infra/commands/restore.ts',
  'npm run smoke': 'infra/commands/smoke/main.ts',
  'npm run sam:services': 'infra/local/sam.ts',
  'npm run simulate': 'test/memory/simulation/main.ts',
  'npm run bench': 'test/measure/bench/main.ts',
};
/** An address with a port that nothing uses. */
const CLOSED = await new Promise<string>((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    server.close(() => resolve(`http://127.0.0.1:${port}`));
  });
});

function run(file: string, ...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { DOCUMENT_SYNC_KEY: _, ...env } = process.env;
  return new Promise((resolve) =>
    execFile(process.execPath, [file, ...args], { env }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  );
}

describe.each(Object.entries(COMMANDS))('%s', (command, file) => {
  it('prints its options with --help', async () => {
    const { status, stdout, stderr } = await run(file, '--help');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^Usage: ${command} -- .*\\[options\\]\n`));
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(130);
  });

  it('states an unknown option in one sentence', async () => {
    const { status, stdout, stderr } = await run(file, '--unknown');
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      `Unknown option '--unknown'. Run \`${command} -- --help\` for the options.\n`,
    ]);
  });
});

it.each([
  ['restore', ['--at', 'noon'], '--at must be a past time with a time zone, such as 2026-01-31T12:00:00Z.'],
  [
    'restore',
    ['--at', '2999-01-31T12:00:00Z'],
    '--at must be a past time with a time zone, such as 2026-01-31T12:00:00Z.',
  ],
  ['listen', ['--base-url', CLOSED, '--key', 'k'], `Cannot reach ${CLOSED}: connection refused.`],
  ['listen', ['--base-url', 'nowhere', '--key', 'k'], '--base-url must be an http: or https: URL.'],
  ['listen', ['--base-url', CLOSED], 'Pass a key, or set the environment variable DOCUMENT_SYNC_KEY.'],
  ['listen', ['--forward-to', 'here'], '--forward-to must be an http: or https: URL.'],
  [
    'listen',
    ['--events', 'document.moved'],
    /^The event type document\.moved does not exist\. The types are document\.created, .*/,
  ],
  ['trigger', [], /^Name one event type: document\.created, .*/],
  ['trigger', ['document.changed', '--base-url', CLOSED, '--key', 'k'], `Cannot reach ${CLOSED}: connection refused.`],
  ['smoke/main', ['--base-url', CLOSED, '--admin-key', 'svc_admin_k'], `Cannot reach ${CLOSED}: connection refused.`],
  ['smoke/main', ['--base-url', CLOSED, '--admin-key', 'k'], /^--admin-key or DOCUMENT_SYNC_KEY must be an admin key/],
  ['smoke/main', ['--listen', '0'], /^(--listen must be an integer from 1 to 65535|Pass --base-url)/],
  [
    'projects',
    ['move', '--stack', 'none'],
    'Name what to do: list, create, show, suspend, resume, create-key, export or delete.',
  ],
  ['projects', ['create', '--stack', 'none'], 'Pass --name and --email.'],
  ['replay', ['events'], 'Name what to replay: events BUCKET FUNCTION, or schedules QUEUE_URL.'],
])('npm run %s with %j states the reason in one sentence', async (name, args, reason) => {
  const { status, stderr } = await run(`infra/commands/${name}.ts`, ...args);
  expect(status).toBe(1);
  if (reason instanceof RegExp) expect(stderr).toMatch(reason);
  else expect(stderr).toBe(`${reason}\n`);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

describe('a command that calls the API', () => {
  it('needs a URL unless the local stack is running', () => {
    const read = () => targetOf(undefined, 'key', 'live');
    if (existsSync('.local/stack.json')) expect(read().key).toBe('key');
    else expect(read).toThrow('Pass --base-url, or start the local stack with `npm start`.');
  });

  it('states the detail of a problem and the status', async () => {
    const server = http.createServer((_, response) => {
      response.writeHead(401).end(JSON.stringify({ code: 'unauthorized', detail: 'Send a valid credential.' }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failed = request({ baseUrl, key: 'k' }, 'GET', '/v1/events?limit=1');
    await expect(failed).rejects.toMatchObject({
      message: 'GET /v1/events: 401 Send a valid credential.',
      status: 401,
    });
    server.close();
  });
});

it('shows default values in the help, and breaks long lines', () => {
  const options = { to: { type: 'string', value: 'URL', about: 'word '.repeat(40).trim(), default: 'x' } } as const;
  const help = parse({ command: 'npm run test', about: 'Tests.', options }, ['-h']);
  expect(help).toContain('--to URL   word word');
  expect(help).toMatch(/\n {13}word .*word \(x\)\n/);
});
