import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { describe, expect, it, vi } from 'vitest';
import { command, runCommand, type Shell } from '../../infra/commands/command.ts';
import { dev } from '../../infra/commands/dev.ts';
import { ops } from '../../infra/commands/ops.ts';
import { openExclusively } from '../../infra/local/exclusive-file.ts';
import { openKept } from '../../infra/local/kept.ts';
import { startDatabase } from '../../infra/local/services/database.ts';
import { dynoxideBinary } from '../../infra/local/services/dynoxide.ts';
import { Template } from '../../infra/local/template.ts';
import { updateDeployment } from '../../infra/settings.ts';
import { UserError } from '../../infra/user-error.ts';
import { temporaryDirectory } from '../support/after-file.ts';
import { ran } from '../support/shell.ts';

const GARBAGE = 'no database'.repeat(1000);
const DAMAGED = 'is damaged, or another release wrote it.';

/** Writes a file into a new directory, and returns the directory. */
function directoryWith(name: string, content: string): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, name), content);
  return directory;
}

/** The message of the error that the user sees. */
async function messageOf(run: () => unknown): Promise<string> {
  const error: unknown = await Promise.resolve()
    .then(run)
    .catch((thrown) => thrown);
  expect(error).toBeInstanceOf(UserError);
  return (error as UserError).message;
}

describe.each([
  '',
  '{',
  'null',
  '[]',
  '{}',
  '{"base_url":"a","keys":{"live":"b","admin":"c"},"invoke_token":"d"}',
])('a stack.json with %j', (content) => {
  it.each([
    ['ops', ['projects', 'list']],
    ['dev', ['trigger', 'document.created']],
  ])('is named by npm run %s in one sentence', async (name, args) => {
    const directory = directoryWith('stack.json', content);
    const group = name === 'ops' ? ops : dev('npm run dev --');
    const start = `npm start -- --directory ${directory}`;
    const stderr = `${directory}/stack.json ${DAMAGED} Stop the local stack, and start it again with \`${start}\`.\n`;
    expect(await ran(group, [...args, '--directory', directory])).toEqual({ status: 1, stdout: '', stderr });
  });
});

describe('kept data', () => {
  const remedy = (directory: string) => `Delete ${directory}, or start without --keep.`;

  it.each(['{', 'null', '{}', '{"project":{},"keys":{}}'])('is not used if demo.json has %j', async (content) => {
    const directory = directoryWith('demo.json', content);
    expect(await messageOf(() => openKept(directory))).toBe(`${directory}/demo.json ${DAMAGED} ${remedy(directory)}`);
  });

  it('with a damaged demo.json stops npm start with one sentence', () => {
    const directory = temporaryDirectory();
    const kept = join(directory, 'kept/memory');
    mkdirSync(kept, { recursive: true });
    writeFileSync(join(kept, 'demo.json'), '{');
    const options = ['--keep', '--database', 'memory', '--port', '0', '--directory', directory];
    const { status, stderr } = spawnSync(process.execPath, ['infra/local/main.ts', ...options], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, `${kept}/demo.json ${DAMAGED} ${remedy(kept)}\n`]);
  });

  it('is not used if the state of the services is no database, has other columns or a damaged value', async () => {
    const garbage = directoryWith('services.db', GARBAGE);
    expect(await messageOf(() => openKept(garbage))).toBe(`Cannot use ${garbage}/services.db: file is not a database.`);
    const damaged = (statements: string) => {
      const directory = temporaryDirectory();
      const file = openExclusively(join(directory, 'services.db'));
      file?.exec(statements);
      file?.close();
      return messageOf(() => openKept(directory));
    };
    expect(await damaged('CREATE TABLE emails (x)')).toMatch(
      /^The data in .+ is damaged \(no such column: key\)\. Delete/,
    );
    const value =
      "CREATE TABLE emails (position INTEGER PRIMARY KEY, key, value); INSERT INTO emails VALUES (1, 'a', '{')";
    expect(await damaged(value)).toMatch(
      /^The data in .+ is damaged \(.+JSON.+\)\. Delete it, or start without --keep\.$/,
    );
  });

  it('is not used if the table in memory is no database', async () => {
    const directory = directoryWith('memory.db', GARBAGE);
    expect(await messageOf(() => startDatabase('memory', directory))).toBe(
      `The data in ${directory} is damaged (file is not a database). Delete it, or start without --keep.`,
    );
  });

  it.runIf(dynoxideBinary())('is not used if the table of Dynoxide is no database', async () => {
    const directory = directoryWith('dynoxide.db', GARBAGE);
    expect(await messageOf(() => startDatabase('dynoxide', directory))).toBe(
      `The database dynoxide exited with code 1. If the data in ${directory} is damaged, delete it, or start without --keep.`,
    );
  });
});

it.each([
  '{',
  '{"artifacts":{"a":1}}',
  '{"artifacts":{"a":{"type":"aws:cloudformation:stack","properties":{"templateFile":"manifest.json"}}}}',
])('a synthesized stack with the file %s is named', async (content) => {
  const directory = directoryWith('manifest.json', content);
  const places = { queuesUrl: '', tablePrefix: '', baseUrl: '' };
  const message = `${directory}/manifest.json ${DAMAGED} Delete ${directory}.`;
  expect(await messageOf(() => new Template(directory, places))).toBe(message);
});

it.each([
  ['{', /^Cannot read deployment\.json: /],
  ['[]', /^Correct deployment\.json:/],
  ['null', /^Correct deployment\.json:/],
])('a deployment.json with %s is named', async (content, message) => {
  const path = join(directoryWith('deployment.json', content), 'deployment.json');
  expect(await messageOf(() => updateDeployment({ batchingSeconds: 1 }, path))).toMatch(message);
});

describe('a variable', () => {
  it('AWS_REGION without a value counts as absent, so npm run ops asks for a region', () => {
    const { AWS_DEFAULT_REGION: _, ...others } = process.env;
    const env = {
      ...others,
      AWS_REGION: '',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      AWS_CONFIG_FILE: '/nope',
    };
    const args = ['infra/commands/ops.ts', 'projects', 'list', '--stack', 'Service'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      'There is no AWS region. Set AWS_REGION, or a region in your AWS profile.\n',
    ]);
  });

  const REGION = 'The AWS region is not a name of a region. Correct AWS_REGION, or the region in your AWS profile.';
  it.each([
    ['AWS_REGION', 'eu west', REGION],
    ['AWS_DEFAULT_REGION', '../x', REGION],
    ['AWS_ENDPOINT_URL', 'nonsense', 'AWS_ENDPOINT_URL must be a URL.'],
    ['AWS_ENDPOINT_URL_S3', 'nonsense', 'AWS_ENDPOINT_URL_S3 must be a URL.'],
  ])('%s with %j is explained in one sentence', async (name, value, message) => {
    const variables = {
      AWS_REGION: undefined,
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      AWS_CONFIG_FILE: '/nope',
    };
    for (const [each, given] of Object.entries({ ...variables, [name]: value })) vi.stubEnv(each, given);
    const said: string[] = [];
    const usage = { command: 'test', about: '', options: {} };
    const call = command(usage, (_, { client }) => client(CloudFormationClient).send(new DescribeStacksCommand({})));
    const execute = (args: readonly string[], shell: Shell) =>
      call.execute(args.slice(args.length), { ...shell, say: (line) => void said.push(line) });
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    await runCommand({ name: '', about: '', execute }).finally(() => vi.unstubAllEnvs());
    expect([said, exit.mock.calls]).toEqual([[message], [[1]]]);
    exit.mockRestore();
  });

  it.each([
    'a key',
    'key\n',
    'clé',
  ])('DOCUMENT_SYNC_KEY with %j is rejected, and the message does not contain it', async (key) => {
    const variables = { DOCUMENT_SYNC_KEY: key };
    const args = ['trigger', 'document.created', '--base-url', 'http://127.0.0.1:1'];
    const stderr = 'The key is empty, or has a space, a line break or another character that no key has.\n';
    expect(await ran(dev('npm run dev --'), args, {}, { variables })).toEqual({ status: 1, stdout: '', stderr });
  });
});

it('rejects a base URL with a password, and does not print it', async () => {
  const args = ['trigger', 'document.created', '--base-url', 'http://user:secret@127.0.0.1:1', '--key', 'key'];
  const stderr = '--base-url must not contain credentials.\n';
  expect(await ran(dev('npm run dev --'), args)).toEqual({ status: 1, stdout: '', stderr });
});
