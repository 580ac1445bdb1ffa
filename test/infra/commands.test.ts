import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse } from '../../infra/commands/command.ts';
import { ExportFile } from '../../infra/commands/export-file.ts';
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
const NO_REGION = 'aws: [ERROR]: An error occurred (NoRegion): You must specify a region.';
/** An address with a port that nothing uses. */
const CLOSED = await new Promise<string>((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    server.close(() => resolve(`http://127.0.0.1:${port}`));
  });
});

function run(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { DOCUMENT_SYNC_KEY: _, ...env } = process.env;
  env.PATH = `${directory}:${env.PATH}`;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** What the function of the stack `service` returns: a page of projects, a project or a page of an export. */
const LINE = '{"text":"\u009b2J\u202e"}';
const RESULT = { name: '\u009b2J', data: [{ name: '\u202e' }], lines: [LINE], next: null };
/** An AWS CLI with the stack `service`. */
const CLI = `#!/bin/sh
case "$1 $2 $4" in
  'cloudformation describe-stacks service') echo '{"Stacks":[{"Outputs":[{"OutputKey":"ProjectsFunction","OutputValue":"p"}]}]}' ;;
  'lambda invoke p') printf %s '${JSON.stringify(RESULT)}' > "$7"; echo '{"StatusCode":200}' ;;
  *) printf '\naws: [ERROR]: An error occurred (NoRegion): You must specify a region.\n\n' >&2; exit 253 ;;
esac
`;
const directory = mkdtempSync(join(tmpdir(), 'commands-'));
beforeAll(() => writeFileSync(join(directory, 'aws'), CLI, { mode: 0o755 }));
afterAll(() => rmSync(directory, { recursive: true }));

describe.each(Object.entries(COMMANDS))('%s', (command, file) => {
  it('prints its options with --help', async () => {
    const { status, stdout, stderr } = await run(file, '--help');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^Usage: ${command} -- .*\\[options\\]\n`));
    expect(stdout.match(/ --\w\S*/g)?.filter((option) => option !== option.toLowerCase())).toEqual([]);
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
  ['listen', ['--secret', ''], '--secret must not be empty.'],
  ['listen', ['--secret', 'whsec_'], '--secret must have the base64 of at least 16 bytes after whsec_.'],
  ['listen', ['--secret', 'whsec_!!'], '--secret must have the base64 of at least 16 bytes after whsec_.'],
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
    'Name what to do: list, create, show, suspend, resume, create-key, export, delete or enable-webhooks.',
  ],
  ['projects', ['create', '--stack', 'none'], 'Pass --name and --email.'],
  ['projects', ['list', '--stack', 'none'], NO_REGION],
  [
    'projects',
    ['export', 'prj_1', '--stack', 'service', '--output', '/dev/null/x'],
    /^Cannot use \/dev\/null\/x: .+\./,
  ],
  ['restore', ['--at', '2026-01-31T12:00:00Z'], NO_REGION],
  ['replay', ['events', 'bucket', 'fan-out'], NO_REGION],
  ['replay', ['schedules', 'https://queue'], NO_REGION],
  ...[[], ['prj_1', '--since', '2026-01-31T12:00:00Z']].map((more): [string, string[], string] => [
    'projects',
    ['enable-webhooks', ...more, '--stack', 'none'],
    'Pass --since TIME, and --project ID for only one project.',
  ]),
  ['replay', ['events'], 'Name what to replay: events BUCKET FUNCTION, schedules QUEUE_URL, or since TIME.'],
  ['replay', ['since', 'noon'], 'since must be a past time with a time zone, such as 2026-01-31T12:00:00Z.'],
])('npm run %s with %j states the reason in one sentence', async (name, args, reason) => {
  const { status, stderr } = await run(`infra/commands/${name}.ts`, ...args);
  expect(status).toBe(1);
  if (reason instanceof RegExp) expect(stderr).toMatch(reason);
  else expect(stderr).toBe(`${reason}\n`);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

describe('npm run projects', () => {
  it('deletes nothing without the name of the project and a terminal', async () => {
    const { status, stderr } = await run('infra/commands/projects.ts', 'delete', 'prj_1', '--stack', 'service');
    expect([status, stderr.split('\n').at(1)]).toEqual([
      1,
      'Nothing was deleted. Type the name of the project, or pass it with --name.',
    ]);
  });
});

it.each([
  ['list', []],
  ['show', ['prj_1']],
  ['export', ['prj_1']],
])('npm run projects -- %s writes no control and no direction characters to a terminal', async (action, args) => {
  const terminal = ['--import', 'data:text/javascript,process.stdout.isTTY=true'] as const;
  const { status, stdout } = await run(
    ...terminal,
    'infra/commands/projects.ts',
    action,
    ...args,
    '--stack',
    'service',
  );
  expect(status).toBe(0);
  expect(stdout).toMatch(/\\u009b2J|\\u202e/);
  expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

it('npm run projects -- export writes the exact text to a pipe', async () => {
  const { stdout } = await run('infra/commands/projects.ts', 'export', 'prj_1', '--stack', 'service');
  expect(stdout).toBe(`${LINE}\n`);
});

describe('the file of an export', () => {
  const path = join(directory, 'export');
  const position = `${path}.position`;
  const continued = async () => {
    const args = ['export', 'prj_1', '--stack', 'service', '--output', path];
    const { status, stderr } = await run('infra/commands/projects.ts', ...args);
    return [status, stderr];
  };
  afterEach(() => {
    for (const file of [path, position]) rmSync(file, { force: true });
  });

  it('continues after the last page that was written with its position', async () => {
    new ExportFile(path, 'prj_1').write(['{"page":1}'], { section: 'keys' });
    writeFileSync(path, '{"pag', { flag: 'a' });
    const files = [path, position].map((file) => statSync(file).mode & 0o777);
    expect([files, new ExportFile(path, 'prj_1').position]).toEqual([[0o600, 0o600], { section: 'keys' }]);
    expect((await continued())[0]).toBe(0);
    expect([readFileSync(path, 'utf8'), existsSync(position)]).toEqual([`{"page":1}\n${LINE}\n`, false]);
  });

  it.each([
    ['no JSON', '{"id":"prj_', '{}\n'],
    ['JSON of another form', '{"id":"prj_1","position":{},"bytes":"3"}', '{}\n'],
    ['more bytes than the file', '{"id":"prj_1","position":{},"bytes":4}', '{}\n'],
    ['the bytes of a missing file', '{"id":"prj_1","position":{},"bytes":3}', undefined],
  ])('is not continued from a position with %s', async (_, saved, text) => {
    if (text !== undefined) writeFileSync(path, text);
    writeFileSync(position, saved);
    expect(await continued()).toEqual([
      1,
      `${path} cannot be continued. Delete it and ${position}, and export again.\n`,
    ]);
    expect(readFileSync(position, 'utf8')).toBe(saved);
  });

  it('keeps the old position when the new one cannot be written completely', () => {
    const file = new ExportFile(path, 'prj_1');
    file.write(['{}'], { section: 'keys' });
    mkdirSync(`${position}.new`);
    expect(() => file.write(['{}'], { section: 'webhooks' })).toThrow(`Cannot use ${path}:`);
    rmSync(`${position}.new`, { recursive: true });
    expect(new ExportFile(path, 'prj_1').position).toEqual({ section: 'keys' });
  });
});

describe('a command that calls the API', () => {
  it('needs a URL unless the local stack is running', () => {
    const read = () => targetOf({ key: 'key' }, 'live');
    if (existsSync('.local/stack.json')) expect(read().key).toBe('key');
    else expect(read).toThrow('Pass --base-url, or start the local stack with `npm start`.');
  });

  it.each([
    [{ detail: 'Send a valid credential.' }, 'Send a valid credential.'],
    [
      {
        detail: 'Correct the fields.',
        errors: [
          { field: 'data.revision', detail: 'must be an integer' },
          { field: 'id', detail: 'is unknown' },
        ],
      },
      'Correct the fields. data.revision must be an integer. id is unknown.',
    ],
    [{ message: 'Forbidden' }, 'Forbidden'],
  ])('states the status, the detail and the violations of a problem', async (problem, reason) => {
    const server = http.createServer((_, response) => void response.writeHead(401).end(JSON.stringify(problem)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failed = request({ baseUrl, key: 'k' }, 'GET', '/v1/events?limit=1');
    await expect(failed).rejects.toMatchObject({
      message: `GET /v1/events: 401 ${reason}`,
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
