import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { context, domain, table } from '../../infra/synth.ts';
import { temporaryDirectory } from '../../support/after-file.ts';

/** Runs the app of a clone with this content of deployment.json, without bundles. `npm run synth` runs it without the file. */
function synthesize(file: object) {
  const checkout = temporaryDirectory();
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  for (const name of ['functions', 'infra', 'lib', 'cdk.json', 'package.json', 'tsconfig.json', 'CHANGELOG.md'])
    cpSync(name, join(checkout, name), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(checkout, 'node_modules'));
  writeFileSync(join(checkout, 'deployment.json'), JSON.stringify(file));
  const env = {
    ...process.env,
    CDK_VALIDATION: 'false',
    CDK_OUTDIR: join(checkout, 'cdk.out'),
    CDK_CONTEXT_JSON: JSON.stringify({ ...context, 'aws:cdk:bundling-stacks': [] }),
  };
  const { status, stderr } = spawnSync('sh', ['-c', app], { cwd: checkout, env, encoding: 'utf8' });
  const written = join(checkout, 'cdk.out/DocumentSyncService.template.json');
  return { status, stderr, template: existsSync(written) ? readFileSync(written, 'utf8') : '' };
}

it('deploys with the settings of deployment.json', () => {
  const senderEmail = 'a@example.com';
  const file = { senderEmail, table, domain, alarms: { email: 'ops@example.com' }, egress: 'nat' };
  const { status, stderr, template } = synthesize(file);
  expect(status, stderr).toBe(0);
  for (const kept of [table.name, domain.name, '"AlarmTopic"', '"SourceAddresses"', senderEmail])
    expect(template).toContain(kept);
});

it('names every violation of the settings, without a stack trace', () => {
  expect(synthesize({ domain: { name: 'api.example.com' }, logLevel: 'WARN' })).toEqual({
    status: 1,
    stderr: `Correct deployment.json:
  senderEmail is missing
  domain.certificateArn is missing
  logLevel is not a setting\n`,
    template: '',
  });
});
