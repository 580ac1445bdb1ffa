import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { init as command } from '../../infra/commands/init.ts';
import { describedSettings, readDeployment } from '../../infra/settings.ts';
import { temporaryDirectory } from '../support/after-file.ts';
import { ran } from '../support/shell.ts';
import { domain, network } from './synth.ts';

const directory = temporaryDirectory();

/** Runs `npm run init` on a file of this name. */
async function init(name: string, ...args: string[]) {
  const path = join(directory, name);
  return { path, ...(await ran(command, args, {}, { deploymentFile: path })) };
}
const set = (...assignments: string[]) => assignments.flatMap((each) => ['--set', each]);

describe('npm run init', () => {
  it('writes a file with the settings of the command, and explains each setting', async () => {
    const names = [`domain.name=${domain.name}`, `domain.certificateArn=${domain.certificateArn}`];
    const { path, status, stdout } = await init(
      'new.json',
      ...set('senderEmail=a@example.com', 'deliverConcurrency=2', ...names, `egress=${JSON.stringify(network)}`),
    );
    expect(status).toBe(0);
    const written = { senderEmail: 'a@example.com', deliverConcurrency: 2, domain, egress: network };
    expect(readDeployment(path)).toMatchObject(written);
    expect(stdout).toContain('webAclArn: not set');
    for (const [name, description] of describedSettings()) {
      expect(stdout).toContain(`${name}: `);
      expect(stdout).toContain(`\n  ${description}\n`);
    }
  });

  it('changes settings of an existing file', async () => {
    const { path } = await init('existing.json', ...set('senderEmail=a@example.com', 'batchingSeconds=1'));
    const { stdout } = await init('existing.json', ...set('batchingSeconds=2', 'alarms.email=ops@example.com'));
    expect(stdout).toContain('Changed ');
    const { $schema: _, ...settings } = JSON.parse(readFileSync(path, 'utf8'));
    expect(settings).toEqual({
      senderEmail: 'a@example.com',
      batchingSeconds: 2,
      alarms: { email: 'ops@example.com' },
    });
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
