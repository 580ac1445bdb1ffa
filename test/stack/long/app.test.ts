import { spawnSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { domain, table, WITHOUT_BUNDLES } from '../../infra/synth.ts';
import { temporaryDirectory } from '../../support/after-file.ts';

/** Runs the command of an app in a directory, with this context. */
function run(command: string, cwd: string, context: object = {}) {
  symlinkSync(join(process.cwd(), 'node_modules'), join(cwd, 'node_modules'));
  const env = {
    ...process.env,
    CDK_VALIDATION: 'false',
    CDK_OUTDIR: join(cwd, 'cdk.out'),
    CDK_CONTEXT_JSON: JSON.stringify(context),
  };
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
  const read = (path: string) => globSync(join(cwd, 'cdk.out', path)).map((name) => readFileSync(name, 'utf8'));
  return { status, stderr, template: read('*.template.json').join(), site: read('asset.*/site.json').join() };
}

/** Runs the app of a clone, without bundles, with this content of deployment.json or without the file. */
function synthesize(file?: object) {
  const checkout = temporaryDirectory();
  const { app } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  for (const name of ['functions', 'infra', 'lib', 'cdk.json', 'package.json', 'tsconfig.json', 'CHANGELOG.md'])
    cpSync(name, join(checkout, name), { recursive: true });
  if (file) writeFileSync(join(checkout, 'deployment.json'), JSON.stringify(file));
  return run(app, checkout, WITHOUT_BUNDLES);
}

it('deploys with the settings of deployment.json', () => {
  const senderEmail = 'a@example.com';
  const file = { senderEmail, table, domain, alarms: { email: 'ops@example.com' }, egress: 'nat' };
  const { status, stderr, template } = synthesize(file);
  expect(status, stderr).toBe(0);
  const confirmed = [`ConfirmDomain=${domain.name}`, `ConfirmTable=${table.name}`];
  for (const kept of [...confirmed, '"AlarmTopic"', '"SourceAddresses"', senderEmail]) expect(template).toContain(kept);
});

it('creates a template without the file, which CloudFormation rejects', () => {
  const { status, stderr, template } = synthesize();
  expect(status, stderr).toBe(0);
  expect(template).toContain('There is no deployment.json.');
});

it('names every violation of the settings, without a stack trace', () => {
  expect(synthesize({ domain: { name: 'api.example.com' }, logLevel: 'WARN' })).toEqual({
    status: 1,
    stderr: `Correct deployment.json:
  senderEmail is missing
  domain.certificateArn is missing
  logLevel is not a setting\n`,
    template: '',
    site: '',
  });
});

it('supports an app of another repository whose stacks share a name and have different settings', () => {
  const directory = temporaryDirectory();
  spawnSync('sh', ['-c', 'git init -q && git remote add origin https://github.com/acme/app'], { cwd: directory });
  const contacts = ['mailto:a@example.com', 'mailto:b@example.com'];
  const app = `import { App, Stack } from 'aws-cdk-lib';
import { DocumentSync } from '${join(process.cwd(), 'infra/document-sync.ts')}';
const app = new App();
for (const [i, securityContact] of ${JSON.stringify(contacts)}.entries())
  new DocumentSync(new Stack(app, 'Stack' + i, { stackName: 'Sync' }), 'Service', { securityContact, cloudWatchRole: 'existing' });
app.synth();`;
  writeFileSync(join(directory, 'app.mts'), app);
  const { status, stderr, template, site } = run('node_modules/.bin/node app.mts', directory);
  expect(status, stderr).toBe(0);
  expect(contacts.filter((contact) => site.includes(contact))).toEqual(contacts);
  expect(template).toContain('infra/RUNBOOK.md#');
  expect(template.match(/acme\/app|AWS::ApiGateway::Account/)).toBeNull();
});
