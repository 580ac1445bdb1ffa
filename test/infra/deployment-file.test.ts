import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toJsonSchema } from '@valibot/to-json-schema';
import { describe, expect, it } from 'vitest';
import { init as command } from '../../infra/commands/init.ts';
import { DEPLOYMENT, describedSettings, readDeployment, settingsOf, updateDeployment } from '../../infra/settings.ts';
import { UserError } from '../../infra/user-error.ts';
import { temporaryDirectory } from '../support/after-file.ts';
import { ran } from '../support/shell.ts';
import { domain, everyOption, network, table } from './synth.ts';

const senderEmail = 'a@example.com';

/** Returns the path of a settings file with this content, or of none. */
function fileWith(content?: unknown): string {
  const path = join(temporaryDirectory(), 'deployment.json');
  if (content !== undefined) writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
const contentsOf = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

describe('reading the file', () => {
  it('returns its settings', () => {
    expect(readDeployment(fileWith({ $schema: './schema.json', ...everyOption }))).toEqual(settingsOf(everyOption));
  });

  it('returns nothing without the file', () => {
    expect(readDeployment(fileWith())).toBeUndefined();
  });

  it.each([
    [{ domain }, 'Correct deployment.json:\n  senderEmail is missing'],
    [{ senderEmail: 'a', domain: 1 }, 'senderEmail must be an email address\n  domain must be an object'],
    [null, 'The file must be an object'],
    ['{"senderEmail":', 'Cannot read deployment.json: '],
  ])('rejects %j with a sentence', (content, message) => {
    const read = () => readDeployment(fileWith(content));
    expect(read).toThrow(UserError);
    expect(read).toThrow(message);
  });
});

it('the file is read only for deployments', () => {
  const sources = ['functions', 'infra', 'lib'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const readers = sources.filter(
    (path) => /\.tsx?$/.test(path) && /\breadDeployment\(/.test(readFileSync(path, 'utf8')),
  );
  const isAllowed = (path: string) => /^infra\/(app|settings|commands\/\w+)\.ts$/.test(path);
  expect(readers).toContain('infra/app.ts');
  expect(readers.filter((path) => !isAllowed(path))).toEqual([]);
});

describe('an update of the file', () => {
  it('changes nothing if the result is invalid, and leaves no other file', () => {
    const path = fileWith({ senderEmail, domain });
    expect(() => updateDeployment({ table: { ...table, name: 'Old' } }, path)).toThrow(UserError);
    expect(contentsOf(path)).toEqual({ senderEmail, domain });
    updateDeployment({ table }, path);
    expect(readdirSync(join(path, '..'))).toEqual(['deployment.json']);
  });

  it('keeps the old file if the new one cannot be written', () => {
    const path = fileWith({ senderEmail, domain });
    mkdirSync(`${path}.new`);
    expect(() => updateDeployment({ table }, path)).toThrow('EISDIR');
    expect(contentsOf(path)).toEqual({ senderEmail, domain });
  });
});

it('infra/README.md has every setting with its default, and a valid example', () => {
  const readme = readFileSync('infra/README.md', 'utf8');
  const { throttles, senderEmail: _, ...settings } = settingsOf({});
  const limits = Object.entries(throttles).map(([name, value]) => [`throttles.${name}`, value]);
  for (const [name, value] of [...Object.entries(settings), ...limits])
    expect(readme).toContain(`| \`${name}\` | \`${value}\` |`);
  for (const [name] of describedSettings()) expect(readme).toMatch(new RegExp(`^\\| \`${name}[.\`]`, 'm'));
  const [, example = ''] = /^```json\n(\{.+?\n\})/ms.exec(readme) ?? [];
  expect(() => readDeployment(fileWith(example))).not.toThrow();
});

it('the schema for editors describes the settings, and is the file in the repository', () => {
  const schema = toJsonSchema(DEPLOYMENT, { ignoreActions: ['check'], typeMode: 'input' });
  if (process.env.RECORD) writeFileSync('infra/deployment.schema.json', `${JSON.stringify(schema, null, 2)}\n`);
  expect(contentsOf('infra/deployment.schema.json')).toEqual(schema);
  const { properties = {}, required } = schema;
  expect(required).toEqual(['senderEmail']);
  for (const [name, property] of Object.entries(properties))
    if (name !== '$schema')
      expect(property, name).toHaveProperty('description', expect.stringMatching(/^.{20,120}\.$/));
});

const directory = temporaryDirectory();

/** Runs `npm run init` on a file of this name. */
async function init(name: string, ...args: string[]) {
  const path = join(directory, name);
  return { path, ...(await ran(command, args, {}, { deploymentFile: path })) };
}
const set = (...assignments: string[]) => assignments.flatMap((each) => ['--set', each]);

describe('npm run init', () => {
  it('writes a file with the settings of the command, and explains each setting', async () => {
    const securityContact = 'https://example.com/?form=1';
    const names = [`domain.name=${domain.name}`, `domain.certificateArn=${domain.certificateArn}`];
    const { path, status, stdout } = await init(
      'new.json',
      ...set('senderEmail=24@example.com', 'deliverConcurrency=2', ...names, `egress=${JSON.stringify(network)}`),
      ...set(`securityContact=${securityContact}`),
    );
    expect(status).toBe(0);
    const written = { senderEmail: '24@example.com', deliverConcurrency: 2, domain, egress: network, securityContact };
    expect(readDeployment(path)).toMatchObject(written);
    expect(stdout).toContain('webAclArn: not set');
    const { stdout: help } = await init('new.json', '--help');
    for (const [name, description] of describedSettings()) {
      expect(stdout).toContain(`${name}: `);
      expect(stdout).toContain(`\n  ${description}\n`);
      expect(help).toMatch(new RegExp(`^  ${name} +${description}$`, 'm'));
    }
  });

  it('changes settings of an existing file, and replaces whole groups', async () => {
    const { path } = await init('existing.json', ...set('senderEmail=a@example.com', 'batchingSeconds=1'));
    const { stdout } = await init('existing.json', ...set('batchingSeconds=2', 'alarms.email=ops@example.com'));
    expect(stdout).toContain('Changed ');
    expect(contentsOf(path)).toEqual({
      $schema: './infra/deployment.schema.json', // for editors
      senderEmail: 'a@example.com',
      batchingSeconds: 2,
      alarms: { email: 'ops@example.com' },
    });
    const topicArn = 'arn:aws:sns:eu-central-1:123456789012:ops';
    await init('existing.json', ...set(`alarms.topicArn=${topicArn}`));
    expect(readDeployment(path)?.alarms).toEqual({ topicArn });
  });

  it.each([
    [[], 'senderEmail is missing'],
    [set('senderEmail=nobody', 'logLevel=WARN'), 'senderEmail must be an email address\n  logLevel is not a setting'],
    [set('senderEmail'), '--set senderEmail is not NAME=VALUE.'],
    [set('egress={'), '--set egress={ is not valid JSON.'],
  ])('explains what is wrong with %j, and writes no file', async (args, message) => {
    const { path, status, stderr } = await init('invalid.json', ...args);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(existsSync(path)).toBe(false);
  });
});
