import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describedSettings, readDeployment } from '../../infra/settings.ts';
import { temporaryDirectory } from '../support/after-file.ts';
import { domain, network } from './synth.ts';

const directory = temporaryDirectory();

/** Runs `npm run init` without a terminal, on a file of this name. */
function init(name: string, ...args: string[]) {
  const path = join(directory, name);
  const given = ['infra/commands/init.ts', '--file', path, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8', stdio: 'pipe' });
  return { path, status, stdout, stderr };
}
const set = (...assignments: string[]) => assignments.flatMap((each) => ['--set', each]);

describe('npm run init', () => {
  it('writes a file with the settings of the command, and explains each setting', () => {
    const names = [`domain.name=${domain.name}`, `domain.certificateArn=${domain.certificateArn}`];
    const { path, status, stdout } = init(
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

  it('changes settings of an existing file', () => {
    const { path } = init('existing.json', ...set('senderEmail=a@example.com', 'batchingSeconds=1'));
    const { stdout } = init('existing.json', ...set('batchingSeconds=2', 'alarms.email=ops@example.com'));
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
  ])('explains what is wrong with %j, and writes no file', (args, message) => {
    const { path, status, stderr } = init('invalid.json', ...args);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(existsSync(path)).toBe(false);
  });
});
