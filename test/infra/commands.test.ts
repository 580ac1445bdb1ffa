import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runCommand, type Shell } from '../../infra/commands/command.ts';
import { dev } from '../../infra/commands/dev.ts';
import { openExport } from '../../infra/commands/export-file.ts';
import { ops } from '../../infra/commands/ops.ts';
import { request } from '../../infra/commands/target.ts';
import { UserError } from '../../infra/user-error.ts';
import { temporaryDirectory } from '../support/after-file.ts';
import { freePort, listen } from '../support/endpoints.ts';
import { type Performers, ran } from '../support/shell.ts';

const GROUPS = { ops, dev: dev('npm run dev --') };
const COMMANDS = ['ops projects', 'ops restore', 'ops replay', 'ops smoke', 'ops discard', 'dev listen', 'dev trigger'];
/** A port that nothing uses, and its address. */
const PORT = await freePort();
const CLOSED = `http://127.0.0.1:${PORT}`;
const TAKEN = await listen(http.createServer());
const directory = temporaryDirectory();

/** Returns the directory of a local stack at a URL. */
function directoryOf(base_url: string): string {
  const stack = { base_url, invoke_token: 'token', keys: { live: 'live', admin: 'admin' } };
  const path = temporaryDirectory();
  writeFileSync(join(path, 'stack.json'), JSON.stringify(stack));
  return path;
}

/** Runs a command line without `npm run`, such as `ops projects list`. */
function run(line: string, performers?: Performers, members?: Partial<Shell>) {
  const [group = '', ...args] = line.split(' ').map((word) => (word === "''" ? '' : word));
  return ran(GROUPS[group as keyof typeof GROUPS], args, performers, members);
}

const LINE = '{"text":"\u009b2J\u202e"}';
/** The response of the function of the stack: a page of projects, a project or a page of an export, with hostile characters. */
const RESULT = { name: '\u009b2J', data: [{ name: '\u202e' }], lines: [LINE], next: null };
const OUTPUTS = ['Projects', 'CreateProject'].map((name) => ({ OutputKey: `${name}Function`, OutputValue: name }));
/** The function that the last command invoked, and its input. */
let invoked: unknown;
const DEPLOYED: Performers = {
  DescribeStacks: ({ StackName }) => ({ Stacks: StackName === undefined ? [] : [{ Outputs: OUTPUTS }] }),
  Invoke({ FunctionName, Payload }) {
    invoked = [FunctionName, JSON.parse(Payload)];
    return { Payload: Buffer.from(JSON.stringify(RESULT)) };
  },
};
const failing = (error: object): Performers => ({
  DescribeStacks() {
    throw Object.assign(new Error(), error);
  },
});

describe.each(COMMANDS)('npm run %s', (line) => {
  const name = `npm run ${line.replace(' ', ' -- ')}`;

  it('prints its options with --help', async () => {
    const { status, stdout, stderr } = await run(`${line} --help`);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^Usage: ${name} .*\\[options\\]\n`));
    expect(stdout.match(/ --\w\S*/g)?.filter((option) => option !== option.toLowerCase())).toEqual([]);
  });

  it('states an unknown option in one sentence', async () => {
    const stderr = `Unknown option '--unknown'. Run \`${name} --help\` for the options.\n`;
    expect(await run(`${line} --unknown`)).toEqual({ status: 1, stdout: '', stderr });
  });
});

it.each([
  ['ops', 'projects, restore, replay, smoke, discard'],
  ['dev', 'listen, trigger'],
])('npm run %s lists its commands with --help, and names them without one', async (group, names) => {
  const help = await run(`${group} --help`);
  const { status, stdout } = help;
  expect(status).toBe(0);
  expect(await run(`${group} -h`)).toEqual(help);
  expect([...stdout.matchAll(/^ {2}(\w+) {2}/gm)].map(([, name]) => name).join(', ')).toBe(names);
  for (const other of ['', ' remove', ' toString'])
    expect(await run(group + other)).toEqual({
      status: 1,
      stdout: '',
      stderr: `Name a command: ${names}. Run \`npm run ${group} -- --help\` for a description.\n`,
    });
});

it('has the commands and options that the documentation uses', async () => {
  const guides = readdirSync('functions/site/docs/guides').map((name) => `functions/site/docs/guides/${name}`);
  const files = ['README.md', 'infra/README.md', 'infra/RUNBOOK.md', 'lib/client/README.md', ...guides];
  const uses = files.flatMap((file) =>
    [
      ...readFileSync(file, 'utf8')
        .replace(/\s*\\\n\s*/g, ' ')
        .matchAll(/(?:npm run (ops|dev) --|npx --no document-sync) (\w+)(?: ([a-z][\w-]*))?([^`\n]*)/g),
    ].map(([use, group = 'dev', name, operation, options = '']) => ({
      use,
      line: `${group} ${name}`,
      operation,
      options,
    })),
  );
  expect(new Set(uses.map(({ line }) => line))).toEqual(new Set(COMMANDS));
  for (const { use, line, operation = '', options } of uses) {
    const { stdout } = await run(`${line} --help`);
    const words = [...(options.match(/(?<= )--[a-z-]+/g) ?? []), ...(line === 'dev trigger' ? [] : [operation])];
    for (const word of words) expect(stdout, use).toContain(word);
  }
});

const TIME = '2026-01-31T12:00:00Z';
const PAST_TIME = '--at must be a past time with a time zone, such as 2026-01-31T12:00:00Z.';
const STACK = 'Pass --stack NAME, because this command needs a deployment and not the local stack.';
const REPLAYS = 'Name what to replay: events, schedules, or since TIME.';
const NO_ARGUMENT = 'has no argument prj_1. Run `npm run ops -- projects --help` for its options.';
it.each<[string, string | RegExp]>([
  ['ops restore --stack none --at noon', PAST_TIME],
  ['ops restore --stack none --at 2999-01-31T12:00:00Z', PAST_TIME],
  ['ops restore --stack none --at 2025-06-31T12:00:00Z', PAST_TIME], // `Date` would use the next day
  [`ops restore --at ${TIME}`, STACK],
  [`ops restore --stack none --at ${TIME} --events 1441`, '--events must be an integer from 0 to 1440.'],
  ['ops replay events', STACK],
  ['ops replay events --stack service', 'The stack service has no output FailedEventsBucket.'],
  ['ops replay events bucket', REPLAYS],
  [`ops replay since ${TIME} ${TIME}`, REPLAYS],
  ['ops replay', REPLAYS],
  ['ops replay since noon', 'since must be a past time with a time zone, such as 2026-01-31T12:00:00Z.'],
  ["ops smoke --receiver ''", '--receiver must be an http: or https: URL.'],
  ['ops smoke --listen 0', '--listen must be an integer from 1 to 65535.'],
  [
    `ops smoke --directory ${directoryOf(CLOSED)} --listen ${TAKEN}`,
    `Port ${TAKEN} is already in use. Stop the process that uses it, or choose another port with --listen.`,
  ],
  [`ops smoke --stack none --base-url ${CLOSED}`, 'Pass either --stack or --base-url.'],
  ["ops projects list --stack ''", STACK], // a variable that is not set
  ["ops smoke --stack ''", STACK],
  [
    'ops projects move',
    'Name what to do: list, create, show, suspend, resume, create-key, export, delete or enable-webhooks.',
  ],
  ['ops projects create --stack none --name Acme', 'Pass --name and --email.'],
  ['ops projects create --stack none --email a@example.com', 'Pass --name and --email.'],
  ['ops projects delete prj_1 prj_2', 'Name one project.'],
  ['ops projects delete prj_1 --name Acme --dry-run', 'delete has no option --dry-run.'],
  ['ops projects enable-webhooks --since A --name prj_1', 'enable-webhooks has no option --name.'],
  [
    'ops projects create --name --email a@example.com',
    "Option '--name' argument is ambiguous. Run `npm run ops -- projects --help` for the options.",
  ],
  ['ops projects show', 'Name the project: npm run ops -- projects show ID.'],
  ['ops projects enable-webhooks', 'Pass --since TIME, and --project ID for only one project.'],
  ['ops projects list prj_1 --stack none', `list ${NO_ARGUMENT}`],
  ['ops projects create prj_1 --stack none --name Acme --email a@example.com', `create ${NO_ARGUMENT}`],
  [`ops projects enable-webhooks prj_1 --since ${TIME}`, `enable-webhooks ${NO_ARGUMENT}`],
  ['ops projects export prj_1', 'Pass --output FILE.'],
  [
    'ops projects list --directory /nowhere',
    'Pass --stack, or start the local stack with `npm start -- --directory /nowhere`.',
  ],
  [`ops projects list --directory ${directoryOf(CLOSED)}`, `Cannot reach ${CLOSED}: connection refused.`], // of a stack that was killed
  ['ops projects export prj_1 --stack service --output /dev/null/x', 'Cannot use /dev/null/x: not a directory.'],
  ['dev listen --base-url nowhere --key k', '--base-url must be an http: or https: URL.'],
  ["dev trigger document.created --base-url ''", '--base-url must be an http: or https: URL.'],
  [`dev listen --base-url ${CLOSED} --key ''`, 'Pass a key, or set the environment variable DOCUMENT_SYNC_KEY.'],
  [`dev trigger document.created --directory ${directoryOf(CLOSED)} --key ''`, /^The key is empty, or has a space/],
  ["dev listen --secret ''", '--secret must not be empty.'],
  ['dev listen --secret whsec_!!', '--secret must have the base64 of at least 16 bytes after whsec_.'],
  ["dev listen --forward-to ''", '--forward-to must be an http: or https: URL.'],
  ['dev listen --events document.moved', /^The event type document\.moved does not exist\. The types are /],
  ['dev trigger', /^Name one event type: document\.created, /],
  ['dev trigger document.created document.deleted', /^Name one event type: document\.created, /],
  [`dev trigger document.changed --base-url ${CLOSED} --key k`, `Cannot reach ${CLOSED}: connection refused.`],
])('npm run %s states the reason in one sentence', async (line, reason) => {
  const { status, stderr } = await run(line, DEPLOYED, { variables: { DOCUMENT_SYNC_KEY: 'variable' } });
  expect([status, stderr.trimEnd().split('\n')]).toEqual([
    1,
    [reason instanceof RegExp ? expect.stringMatching(reason) : reason],
  ]);
});

it.each([
  ['eu-west-1', 'eu-west-2', 'eu-west-1'],
  ['', 'eu-west-2', 'eu-west-2'],
  [undefined, undefined, 'eu-south-1'],
])('with AWS_REGION %j, AWS_DEFAULT_REGION %j and a profile, the region is %s', async (region, byDefault, expected) => {
  const file = join(temporaryDirectory(), 'config');
  writeFileSync(file, '[default]\nregion = eu-south-1\n');
  const variables = {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: byDefault,
    AWS_PROFILE: undefined,
    AWS_CONFIG_FILE: file,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const execute = async (_: unknown, { client }: Shell) => {
    expect(await client(LambdaClient).config.region()).toBe(expected);
    return 0;
  };
  await runCommand({ name: '', about: '', execute }).finally(() => vi.unstubAllEnvs());
});

const FAILED = { $metadata: {} };
const NO_CREDENTIALS = 'Could not load credentials from any providers';
it.each([
  [{ message: 'Region is missing' }, 'There is no AWS region. Set AWS_REGION, or a region in your AWS profile.'],
  [
    { name: 'CredentialsProviderError', message: NO_CREDENTIALS },
    'There are no AWS credentials. Set AWS_PROFILE to a profile that has some, or their variables.',
  ],
  [{ name: 'CredentialsProviderError', message: 'The SSO session has expired' }, 'The SSO session has expired.'],
  [
    { name: 'TokenProviderError', message: 'Token is expired. Run aws sso login' },
    'Token is expired. Run aws sso login.',
  ],
  [
    { name: 'ValidationError', message: 'Stack with id service does not exist', ...FAILED },
    'The stack service does not exist in this account and region.',
  ],
  [
    { name: 'AccessDenied', message: 'User: a is not authorized to perform: b\non resource: c', ...FAILED },
    'AWS rejected the call (AccessDenied): User: a is not authorized to perform: b.',
  ],
  [
    { name: 'Error', code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND aws', ...FAILED },
    'Cannot reach AWS: getaddrinfo ENOTFOUND aws.',
  ],
  [{ name: 'AggregateError', code: 'ECONNREFUSED', message: '', ...FAILED }, 'Cannot reach AWS: ECONNREFUSED.'],
  [
    { name: 'ExpiredToken', message: 'The token is expired.', ...FAILED },
    'AWS rejected the call (ExpiredToken): The token is expired.',
  ],
])('each command for a deployment explains %j in one sentence', async (error, reason) => {
  const lines = [
    'projects list',
    `restore --at ${TIME}`,
    'replay events',
    `replay since ${TIME}`,
    'smoke --key svc_admin_',
  ];
  for (const line of lines)
    expect(await run(`ops ${line} --stack service`, failing(error))).toEqual({
      status: 1,
      stdout: '',
      stderr: `${reason}\n`,
    });
});

it('prints the stack trace of an error that is no mistake of the user', async () => {
  const { stderr } = await run('ops projects list --stack service', failing({ message: 'a bug' }));
  expect(stderr).toMatch(/\n +at .+:\d+/);
});

it.each([
  ['create --name A --email a@b.example --email c', { name: 'A', email: ['a@b.example', 'c'] }],
  [
    'enable-webhooks --since A --until B --project prj_1 --dry-run',
    { operation: 'enable-webhooks', id: 'prj_1', since: 'A', until: 'B', dry_run: true },
  ],
  [
    "enable-webhooks --since A --until '' --project ''",
    { operation: 'enable-webhooks', id: '', since: 'A', until: '', dry_run: false },
  ],
])('npm run ops -- projects %s passes its options to its function', async (line, input) => {
  const { status, stdout } = await run(`ops projects ${line} --stack service`, DEPLOYED);
  expect(status).toBe(0);
  expect(invoked).toEqual(['name' in input ? 'CreateProject' : 'Projects', input]);
  if ('name' in input) expect(JSON.parse(stdout)).toEqual(RESULT); // with the only copy of the key
});

it('states the reason of a function that failed, without control and direction characters', async () => {
  const Payload = Buffer.from('{"errorMessage":"There is no \u009b2J\u202e"}');
  const Invoke = () => ({ FunctionError: 'Unhandled', Payload });
  const { stderr } = await run('ops projects show prj_1 --stack service', { ...DEPLOYED, Invoke });
  expect(stderr).toBe('Projects failed: There is no \\u009b2J\\u202e\n');
});

describe('npm run ops -- projects', () => {
  it.each([
    [{ name: 'Acme' }, undefined, ['show undefined']],
    [{ name: 'Acme' }, 'Acme', ['show undefined', 'delete Acme']],
    [{ name: 'Acme' }, 'Other', ['show undefined', 'delete Other']],
    [{ state: 'deleting' }, undefined, ['show undefined', 'delete undefined']],
  ])('asks for the name of a project before its deletion, but not to continue one: %j, answer %s', async (project, answer, expected) => {
    const events: string[] = [];
    const deletion = { state: 'deleted', items_removed: 1, waits_until: null };
    const Invoke = ({ Payload }: { Payload: Buffer }) => {
      const { operation, name } = JSON.parse(Payload.toString());
      events.push(`${operation} ${name}`);
      return { Payload: Buffer.from(JSON.stringify(operation === 'show' ? project : deletion)) };
    };
    const answered = answer === undefined ? {} : { ask: async () => answer };
    const { status, stderr } = await run('ops projects delete prj_1 --stack s', { ...DEPLOYED, Invoke }, answered);
    expect([status, stderr === 'There is no terminal.\n']).toEqual(expected.length === 1 ? [1, true] : [0, false]);
    expect(events).toEqual(expected);
  });

  it('prints the progress of a deletion when it changes and every minute, and pauses for one to ten seconds', async () => {
    const waiting = { state: 'deleting', items_removed: 1, waits_until: '2026-01-31T12:00:00.000Z' };
    const longer = { ...waiting, waits_until: '2999-01-31T12:00:00.000Z' };
    const removing = { ...waiting, waits_until: null };
    const searching = Array.from({ length: 7 }, () => removing);
    const responses = [
      { name: 'Acme' },
      ...searching,
      waiting,
      waiting,
      longer,
      longer,
      { ...waiting, state: 'deleted' },
    ];
    const names = new Set<string>();
    const Invoke = ({ Payload }: { Payload: string }) => {
      names.add(JSON.parse(Payload).name);
      return { Payload: Buffer.from(JSON.stringify(responses.shift())) };
    };
    const pauses: number[] = [];
    const wait = async (ms: number) => pauses.push(ms);
    const printed = await run('ops projects delete prj_1 --stack s --name Other', { ...DEPLOYED, Invoke }, { wait });
    expect(JSON.parse(printed.stdout)).toEqual({ ...waiting, state: 'deleted' });
    expect(printed.stderr.split('\n')).toEqual([
      'Removed 1 items.',
      'Removed 1 items. Still looking through what the project contained.',
      ...[waiting, longer].map(({ waits_until }) => `Removed 1 items. Checks again at ${waits_until}.`),
      'The project is deleted. 1 items were removed, and a later pass found none.',
      '',
    ]);
    expect(pauses).toEqual([1000, 1000, 10_000, 10_000]); // also while the clock of this machine is ahead
    expect([...names]).toEqual([undefined, 'Other']);
  });

  it.each([
    ['list', '{"id":"a"}\n{"id":"b"}\n', ''],
    [`enable-webhooks --since ${TIME} --dry-run`, '', 'The command would enable 3 webhooks.\n'],
    [`enable-webhooks --since ${TIME}`, '', 'Enabled 3 webhooks. Their recoveries start within 60 seconds.\n'],
    [
      `export prj_1 --output ${join(directory, 'pages')}`,
      '',
      '2 lines\n2 lines\nThe export is complete. This run wrote 3 lines.\n',
    ],
  ])('%s states the result of all pages', async (action, stdout, stderr) => {
    const pages = [
      { data: [{ id: 'a' }], webhooks: 2, lines: ['{}', '{}'], next: { page: 1 } },
      { data: [], webhooks: 0, lines: [], next: { page: 2 } },
      { data: [{ id: 'b' }], webhooks: 1, lines: ['{}'], next: null },
    ];
    const operations = new Set<string>();
    const Invoke = ({ Payload }: { Payload: string }) => {
      const { after, ...operation } = JSON.parse(Payload);
      operations.add(JSON.stringify(operation));
      return { Payload: Buffer.from(JSON.stringify(pages[after?.page ?? 0])) };
    };
    const printed = await run(`ops projects ${action} --stack service`, { ...DEPLOYED, Invoke });
    expect(printed).toEqual({ status: 0, stdout, stderr });
    expect(operations.size).toBe(1); // the options apply to each page
  });

  it.each(['list', 'show prj_1'])('%s writes no control and no direction characters', async (action) => {
    const { status, stdout } = await run(`ops projects ${action} --stack service`, DEPLOYED);
    expect(status).toBe(0);
    expect(stdout).toMatch(/\\u009b2J|\\u202e/);
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe('the file of an export', () => {
  const path = join(directory, 'export');
  const position = `${path}.position`;
  const continued = async (id = 'prj_1', performers = DEPLOYED) => {
    const { status, stderr } = await run(`ops projects export ${id} --stack service --output ${path}`, performers);
    return [status, stderr];
  };
  afterEach(() => {
    for (const file of [path, position]) rmSync(file, { force: true });
  });

  it('continues after the last page that was written with its position', async () => {
    const pages = [
      { lines: ['{"page":"é"}'], next: { section: 'webhooks' } },
      { lines: ['{}'], next: { section: 'keys' } },
    ];
    const Invoke = () => ({ Payload: Buffer.from(JSON.stringify(pages.shift() ?? expect.fail('interrupted'))) });
    expect((await continued('prj_1', { ...DEPLOYED, Invoke }))[0]).toBe(1);
    writeFileSync(path, '{"pag', { flag: 'a' });
    const files = [path, position].map((file) => statSync(file).mode & 0o777);
    expect([files, openExport(path, 'prj_1').position]).toEqual([[0o600, 0o600], { section: 'keys' }]);
    expect((await continued())[0]).toBe(0);
    expect(invoked).toEqual(['Projects', { operation: 'export', id: 'prj_1', after: { section: 'keys' } }]);
    expect([readFileSync(path, 'utf8'), existsSync(position)]).toEqual([`{"page":"é"}\n{}\n${LINE}\n`, false]);
  });

  it('starts again, also with another project, when no page was written', async () => {
    const Invoke = () => ({ FunctionError: 'Unhandled', Payload: Buffer.from('{}') });
    expect(await continued('prj_2', { ...DEPLOYED, Invoke })).toEqual([1, 'Projects failed: Unhandled\n']);
    expect((await continued())[0]).toBe(0);
    expect(invoked).toEqual(['Projects', { operation: 'export', id: 'prj_1' }]);
  });

  const UNREADABLE = `cannot be continued. Delete it and ${position}, and export again.`;
  it.each([
    ['without a position', undefined, '{}\n', 'exists already.'],
    ['of another project', '{"id":"prj_2","position":{},"bytes":3}', '{}\n', 'contains the export of prj_2.'],
    ['with a position that is no JSON', '{"id":"prj_', '{}\n', UNREADABLE],
    ['with a position of another form', '{"id":"prj_1","position":{},"bytes":"3"}', '{}\n', UNREADABLE],
    ['with more bytes in the position', '{"id":"prj_1","position":{},"bytes":4}', '{}\n', UNREADABLE],
    ['with only a position', '{"id":"prj_1","position":{},"bytes":3}', undefined, UNREADABLE],
  ])('is not continued %s', async (_, saved, text, reason) => {
    const files = { [path]: text, [position]: saved };
    for (const [file, content] of Object.entries(files)) if (content !== undefined) writeFileSync(file, content);
    expect(await continued()).toEqual([1, `${path} ${reason}\n`]);
    for (const [file, content] of Object.entries(files))
      expect(existsSync(file) ? readFileSync(file, 'utf8') : undefined).toBe(content);
  });

  it('keeps the old position when the new one cannot be written completely', () => {
    const file = openExport(path, 'prj_1');
    file.write(['{}'], { section: 'keys' });
    mkdirSync(`${position}.new`);
    expect(() => file.write(['{}'], { section: 'webhooks' })).toThrow(`Cannot use ${path}:`);
    rmSync(`${position}.new`, { recursive: true });
    expect(openExport(path, 'prj_1').position).toEqual({ section: 'keys' });
  });

  it('fails when another process writes the same file, and leaves it as it is', () => {
    const [first, second] = [openExport(path, 'prj_1'), openExport(path, 'prj_1')];
    first.write(['{}'], { section: 'keys' });
    for (const next of [{ section: 'webhooks' }, null])
      expect(() => second.write(['{}'], next)).toThrow(`Another process writes ${path}.`);
    first.write(['{}'], null);
    expect([readFileSync(path, 'utf8'), existsSync(position)]).toEqual(['{}\n{}\n', false]);
  });

  it.each(['null', '{}'])('keeps the old position when a page before %s cannot be written', (next) => {
    openExport(path, 'prj_1').write(['{}'], { section: 'keys' });
    const script = `import { openExport } from './infra/commands/export-file.ts';
      openExport('${path}', 'prj_1').write(['x'.repeat(9999)], ${next});`;
    const limited = ['-c', 'ulimit -f 1; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', script];
    expect(spawnSync('sh', limited, { encoding: 'utf8' }).stderr).toContain(`Cannot use ${path}: file too large.`);
    expect(openExport(path, 'prj_1').position).toEqual({ section: 'keys' });
  });
});

describe('a command that calls the API', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([
    ['ops projects list', 'POST /_local/functions/Projects', 'token'],
    [`ops smoke --listen ${PORT}`, 'POST /v1/keys', 'admin'],
    ['dev listen', 'GET /v1/webhooks?limit=1', 'live'],
    ['dev trigger document.created', 'POST /v1/events', 'live'],
    ['dev trigger document.created --key option', 'POST /v1/events', 'option'],
    ['dev trigger document.created --base-url URL/', 'POST /v1/events', 'variable'],
    ['dev trigger document.created --base-url URL --key option', 'POST /v1/events', 'option'],
  ])('npm run %s sends %s once, with the key %s', async (line, ...expected) => {
    const requests: unknown[] = [];
    const server = http.createServer(({ method, url, headers: { authorization } }, response) => {
      requests.push([`${method} ${url}`, authorization?.replace('Bearer ', '')]);
      response.writeHead(503, { 'Retry-After': '0' }).end(); // the outcome of a POST is unknown
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    const local = directoryOf(line.includes('URL') ? CLOSED : url);
    const variables = { DOCUMENT_SYNC_KEY: 'variable' };
    await run(`${line.replace('URL', url)} --directory ${local}`, {}, { variables });
    expect(requests).toEqual([expected]);
  });

  it.each([
    ['several closed addresses', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'connection refused'],
    ['several unreachable addresses', Object.assign(new AggregateError([]), { code: 'EHOSTUNREACH' }), 'EHOSTUNREACH'],
    ['a port that fetch does not allow', new Error('bad port'), 'bad port'],
  ])('states why a request to %s has no response', async (_, cause, reason) => {
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed', { cause }));
    const { stderr } = await run('dev trigger document.changed --base-url http://localhost:4000 --key k');
    expect(stderr).toBe(`Cannot reach http://localhost:4000: ${reason}.\n`);
  });

  it.each([
    [401, { detail: 'Send a valid credential.' }, 'Send a valid credential.'],
    [
      400,
      {
        detail: 'Correct the fields.',
        errors: [
          { field: 'data.revision', detail: 'must be an integer' },
          { field: 'id', detail: 'is unknown' },
        ],
      },
      'Correct the fields. data.revision must be an integer. id is unknown.',
    ],
    [403, { message: 'Forbidden' }, 'Forbidden'],
    [301, '<h1>Moved</h1>', '<h1>Moved</h1>'], // of a proxy
  ])('states the status %d, and the detail and the violations of a problem or the text', async (status, body, reason) => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const server = http.createServer((_, response) => void response.writeHead(status, { Location: '/' }).end(text));
    const baseUrl = `http://127.0.0.1:${await listen(server)}`;
    const failed = request({ baseUrl, key: 'k' }, 'GET', '/v1/events?limit=1');
    await expect(failed).rejects.toThrow(new UserError(`GET /v1/events: ${status} ${reason}`));
    expect(timeout).toHaveBeenCalledWith(35_000);
  });
});

it.each([
  ['Acme\n', 0, ['show', 'delete'], 'pass it with --name: '],
  ['', 1, ['show'], 'The question has no answer, so nothing was changed.\n'], // without a terminal
])('asks for the name on standard error, and reads %j', async (input, status, expected, said) => {
  const operations: string[] = [];
  const server = http.createServer(async (request, response) => {
    operations.push(JSON.parse(await text(request)).operation);
    response.end('{"name":"Acme","state":"deleted"}');
  });
  const local = directoryOf(`http://127.0.0.1:${await listen(server)}`);
  const command = ['infra/commands/ops.ts', 'projects', 'delete', 'prj_1', '--directory', local];
  const child = spawn(process.execPath, command);
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  child.stdin.end(input);
  expect(await once(child, 'close')).toEqual([status, null]);
  expect(await stderr).toContain(said);
  expect(await stdout).toMatch(status === 0 ? /./ : /^$/);
  expect(operations).toEqual(expected);
});

it('prints no stack trace when the reader of its output has ended', () => {
  const { stderr } = spawnSync('sh', ['-c', 'node infra/commands/ops.ts --help | true'], { encoding: 'utf8' });
  expect(stderr).toBe('');
});
