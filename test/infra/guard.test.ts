import { App, Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { addGuard, CONFIRMED, confirmationOf } from '../../infra/guard.ts';
import { describedSettings, type SettingsInput, settingsOf } from '../../infra/settings.ts';
import { appProps, domain, network, table, topicArn, unvalidated, webAclArn } from './synth.ts';

type Parameters = Record<string, string>;
interface Guarded {
  Parameters: Record<string, { Default: string; AllowedValues?: string[] }>;
  Rules: Record<string, { Assertions: { Assert: { 'Fn::Equals': unknown[] }; AssertDescription: string }[] }>;
}

/**
 * The template of a deployment with this content of deployment.json, or without the file. It lacks the resources of the service,
 * because their synthesis takes a second and the guard does not depend on them.
 */
function templateOf(file?: SettingsInput): Guarded {
  const app = new App(appProps());
  const stack = new Stack(app, 'DocumentSyncService');
  addGuard(stack, file && settingsOf({ senderEmail: 'a@example.com', ...file }));
  return unvalidated(() => app.synth()).getStackArtifact(stack.artifactId).template;
}

/**
 * Deploys like the CDK and CloudFormation: the values of parameters come from the command, the last deployment and the template, in
 * this order, and a rule that is false rejects the deployment. Returns the parameters of the stack.
 */
function deploy({ Parameters, Rules }: Guarded, last: Parameters = {}, given: Parameters = {}): Parameters {
  const values = Object.fromEntries(
    Object.entries(Parameters).map(([name, { Default }]) => [name, given[name] ?? last[name] ?? Default]),
  );
  for (const [name, { AllowedValues }] of Object.entries(Parameters))
    if (AllowedValues && !AllowedValues.includes(values[name] ?? '')) throw new Error(`${name} is not allowed`);
  const resolved = (value: unknown) => (typeof value === 'string' ? value : values[(value as { Ref: string }).Ref]);
  for (const { Assertions } of Object.values(Rules).filter((rule) => !JSON.stringify(rule).includes('Bootstrap')))
    for (const { Assert, AssertDescription } of Assertions)
      if (new Set(Assert['Fn::Equals'].map(resolved)).size > 1) throw new Error(AssertDescription);
  return values;
}

const everything: SettingsInput = {
  table,
  domain,
  alarms: { email: 'ops@example.com' },
  egress: 'nat',
  encryption: 'customer',
  webAclArn,
  dataRetention: 'retain',
  logRetentionDays: 400,
  cloudWatchRole: 'existing',
};

const OTHER_TABLE = { name: 'Other', streamArn: table.streamArn.replace(table.name, 'Other') };

/** A change of each setting that needs a confirmation. */
const CHANGES: [setting: keyof SettingsInput, changed: SettingsInput, confirmation: string][] = [
  ['table', { table: undefined }, 'ConfirmTable=own'],
  ['domain', { domain: undefined }, 'ConfirmDomain=none'],
  ['alarms', { alarms: undefined }, 'ConfirmAlarms=none'],
  ['egress', { egress: undefined }, 'ConfirmEgress=shared'],
  ['encryption', { encryption: undefined }, 'ConfirmEncryption=aws'],
  ['webAclArn', { webAclArn: undefined }, 'ConfirmWebAclArn=none'],
  ['dataRetention', { dataRetention: 'destroy' }, 'ConfirmDataRetention=destroy'],
  ['logRetentionDays', { logRetentionDays: undefined }, 'ConfirmLogRetentionDays=30'],
  ['cloudWatchRole', { cloudWatchRole: undefined }, 'ConfirmCloudWatchRole=create'],
  ['table', { table: OTHER_TABLE }, 'ConfirmTable=Other'],
  ['domain', { domain: { ...domain, name: 'b.example.com' } }, 'ConfirmDomain=b.example.com'],
  [
    'webAclArn',
    { webAclArn: webAclArn.replace('/acl/', '/other/') },
    `ConfirmWebAclArn=${webAclArn.replace('/acl/', '/other/')}`,
  ],
  ['alarms', { alarms: { email: 'b@example.com' } }, 'ConfirmAlarms=b@example.com'],
  ['alarms', { alarms: { topicArn } }, `ConfirmAlarms=${topicArn}`],
  ['egress', { egress: network }, `ConfirmEgress=${network.vpcId}`],
];

describe('a deployment', () => {
  it('is rejected without a settings file, also of an existing stack', () => {
    const message = 'There is no deployment.json. To write one, run npm run init.';
    const without = templateOf();
    expect(() => deploy(without)).toThrow(message);
    expect(() => deploy(without, deploy(templateOf(everything)))).toThrow(message);
    expect(() => deploy(without, {}, { DeploymentFile: 'exists' })).toThrow('not allowed');
  });

  it('can create a stack, and update it with the same table, domain and VPC', () => {
    const updates: [before: SettingsInput, changes: SettingsInput][] = [
      [{}, {}],
      [everything, { domain: { ...domain, certificateArn: domain.certificateArn.replace('abc', 'def') } }],
      [everything, { table: { ...table, streamArn: table.streamArn.replace('2026', '2027') } }],
      [everything, { senderEmail: 'b@example.com', throttles: { methodPerSecond: 2000 }, batchingSeconds: 1 }],
      [everything, { securityContact: 'mailto:security@example.com' }],
      [{ egress: network }, { egress: { ...network, subnetIds: ['subnet-01234567'], sourceAddresses: ['192.0.2.2'] } }],
    ];
    for (const [settings, changes] of updates) {
      const last = deploy(templateOf(settings));
      expect(deploy(templateOf({ ...settings, ...changes, deliverConcurrency: 2 }), last)).toEqual(last);
    }
  });

  it.each(CHANGES)('with another %s, or without it, needs a confirmation: %o', (name, changed, confirmation) => {
    const last = deploy(templateOf(everything));
    const others = { ...everything, ...changed };
    expect(() => deploy(templateOf(others), last)).toThrow(
      `The last deployment had other settings of ${name}. npx cdk diff lists the changed parameters of all settings. If deployment.json is right, add --parameters ${confirmation}`,
    );
    const confirmed = deploy(templateOf(others), last, Object.fromEntries([confirmation.split('=')]));
    expect(deploy(templateOf(others), confirmed)).toEqual(confirmed);
  });

  it('needs a decision for each setting, and a test of each that needs a confirmation', () => {
    expect(Object.keys(CONFIRMED).sort()).toEqual(
      describedSettings()
        .map(([name]) => name)
        .sort(),
    );
    const { Parameters } = templateOf(everything);
    const protects = Object.keys(CONFIRMED).filter((name) => CONFIRMED[name as keyof SettingsInput] !== null);
    expect(Object.keys(Parameters).filter((name) => name.startsWith('Confirm'))).toEqual(protects.map(confirmationOf));
    expect(new Set(CHANGES.map(([name]) => name))).toEqual(new Set(protects));
  });

  it('protects a setting that was added later', () => {
    const first = deploy(templateOf({}));
    const second = deploy(templateOf({ domain }), first, { ConfirmDomain: domain.name });
    expect(() => deploy(templateOf({}), second)).toThrow('ConfirmDomain=none');
  });
});
