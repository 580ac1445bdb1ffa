import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SettingsInput } from '../../../infra/settings.ts';
import { domain, table } from '../../infra/synth.ts';
import { afterFile } from '../../support/after-file.ts';

/** Copies the checkout without the settings of its operator, like a clone after `npm ci`. */
function clone(): string {
  const directory = mkdtempSync(join(tmpdir(), 'clone-'));
  afterFile(() => rmSync(directory, { recursive: true }));
  for (const name of readdirSync('.')) {
    if (['.git', '.local', 'cdk.out', 'node_modules', 'deployment.json'].includes(name)) continue;
    cpSync(name, join(directory, name), { recursive: true });
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

const checkout = clone();

/** Runs `cdk synth` with this content of deployment.json, or without the file. */
function synthesize(file?: SettingsInput | object) {
  const path = join(checkout, 'deployment.json');
  const output = join(checkout, 'cdk.out');
  rmSync(path, { force: true });
  rmSync(output, { recursive: true, force: true });
  if (file) writeFileSync(path, JSON.stringify(file));
  const environment = { ...process.env, AWS_EC2_METADATA_DISABLED: 'true', CDK_DISABLE_VERSION_CHECK: 'true' };
  const args = ['node_modules/.bin/cdk', 'synth', '-q', '--no-notices'];
  const { status, stderr, stdout } = spawnSync(process.execPath, args, {
    cwd: checkout,
    env: environment,
    encoding: 'utf8',
  });
  const written = join(output, 'DocumentSyncService.template.json');
  const template = existsSync(written) ? readFileSync(written, 'utf8') : '';
  return { status, printed: `${stdout}${stderr}`, template };
}

describe('cdk synth', () => {
  it('works in a clone without settings, and warns only about the sender', () => {
    const { status, printed, template } = synthesize();
    expect(status, printed).toBe(0);
    expect(printed.match(/WARNING.*/g)).toEqual([expect.stringContaining('run npm run init')]);
    expect(template).toContain('There is no deployment.json. To write one, run npm run init.');
  });

  it('creates the same template for an update, and no warning', () => {
    const senderEmail = 'a@example.com';
    const file = { senderEmail, table, domain, alarms: { email: 'ops@example.com' }, egress: 'nat' };
    const [first, update] = [synthesize(file), synthesize(file)];
    expect(first.status, first.printed).toBe(0);
    expect(first.printed).not.toContain('WARNING');
    expect(update.template).toBe(first.template);
    for (const kept of [table.name, domain.name, '"AlarmTopic"', '"SourceAddresses"', senderEmail])
      expect(update.template).toContain(kept);
  });

  it('names every violation of the settings, without a stack trace', () => {
    const { status, printed } = synthesize({ domain: { name: 'api.example.com' }, logLevel: 'WARN' });
    expect(status).not.toBe(0);
    expect(printed).toContain(`Correct deployment.json:
  senderEmail is missing
  domain.certificateArn is missing
  logLevel is not a setting`);
    expect(printed).not.toMatch(/\n +at /);
  });
});
