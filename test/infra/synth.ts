import type { AppProps } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { CloudFormationStackArtifact } from 'aws-cdk-lib/cx-api';
import { vi } from 'vitest';
import type { SettingsInput } from '../../infra/settings.ts';
import { createApp, FLAGS } from '../../infra/stack.ts';
import { temporaryDirectory } from '../support/after-file.ts';

/** The context of an app that is synthesized without bundles and copies of files. */
export const WITHOUT_BUNDLES = { 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-asset-staging': true };

/** The properties of an app without bundles and copies of files, because they do not depend on settings. */
export function appProps(settings: SettingsInput = {}): AppProps & { settings: SettingsInput } {
  return {
    outdir: temporaryDirectory(),
    settings,
    context: { ...FLAGS, ...WITHOUT_BUNDLES },
  };
}

/** Synthesizes without the validation of the CDK, which would double the time. */
export function unvalidated<Result>(synthesize: () => Result): Result {
  vi.stubEnv('CDK_VALIDATION', 'false');
  try {
    return synthesize();
  } finally {
    vi.unstubAllEnvs();
  }
}

type Stack = Pick<CloudFormationStackArtifact, 'terminationProtection' | 'tags' | 'messages'> & { template: Template };
const stacks = new Map<string, Stack>();

/** Synthesizes the stack with these settings, once. Its files last only as long as the file of tests. */
export function synthStack(settings: SettingsInput): Stack {
  const name = JSON.stringify(settings);
  const found = stacks.get(name);
  if (found) return found;
  const assembly = unvalidated(() => createApp(appProps(settings)).synth());
  const { template, terminationProtection, tags, messages } = assembly.getStackArtifact('DocumentSyncService');
  const stack = { template: Template.fromJSON(template), terminationProtection, tags, messages };
  stacks.set(name, stack);
  return stack;
}

export const synth = (settings: SettingsInput): Template => synthStack(settings).template;

export const domain = {
  name: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/abc-1',
};

export const table = {
  name: 'Old-restored-1',
  streamArn: 'arn:aws:dynamodb:eu-west-1:111122223333:table/Old-restored-1/stream/2026-01-31T12:00:00.000',
};

export const network = {
  vpcId: 'vpc-0123456789abcdef0',
  subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1', 'subnet-0123456789abcdef2'],
  sourceAddresses: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
};
export const topicArn = 'arn:aws:sns:eu-west-1:111122223333:ops';
export const webAclArn = 'arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/acl/a-1';

/** The options of each setting. Limits and names form one option each. */
export const choices: Record<string, SettingsInput[]> = {
  encryption: [{}, { encryption: 'customer' }],
  dataRetention: [{}, { dataRetention: 'destroy' }],
  table: [{}, { table }],
  domain: [{}, { domain }],
  limits: [
    {},
    {
      batchingSeconds: 1,
      deliverConcurrency: 50,
      throttles: { methodPerSecond: 5, projectPerSecond: 5, deliveriesPerSecond: 5 },
      logRetentionDays: 7,
    },
  ],
  egress: [{}, { egress: 'nat' }, { egress: network }],
  alarms: [{}, { alarms: { email: 'ops@example.com' } }, { alarms: { topicArn } }],
  names: [
    {},
    {
      stackName: 'Second',
      cloudWatchRole: 'existing',
      senderEmail: 'a@example.com',
      securityContact: 'mailto:security@example.com',
      webAclArn,
    },
  ],
};

/** Settings that enable every option, but no existing table. Tests share them, because a synthesis takes a second. */
export const everyOption: SettingsInput = {
  ...choices.encryption?.[1],
  ...choices.dataRetention?.[1],
  ...choices.domain?.[1],
  ...choices.limits?.[1],
  ...choices.egress?.[1],
  ...choices.alarms?.[1],
  ...choices.names?.[1],
};

/** The lowest and highest limits, and the smallest existing network. */
export const extremes: SettingsInput = {
  deliverConcurrency: 2,
  batchingSeconds: 5,
  throttles: { methodPerSecond: 10_000, projectPerSecond: 2501, deliveriesPerSecond: 100_000 },
  egress: { ...network, subnetIds: network.subnetIds.slice(2), sourceAddresses: [] },
};
