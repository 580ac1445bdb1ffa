import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App, AppProps } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { vi } from 'vitest';
import { createApp } from '../../infra/service.ts';
import { afterFile } from '../support/after-file.ts';

export const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));

/** The properties of an app that is synthesized without bundles and copies of files, because they do not depend on settings. */
export function appProps(settings: object = {}): AppProps {
  const outdir = mkdtempSync(join(tmpdir(), 'service-settings-'));
  afterFile(() => rmSync(outdir, { recursive: true }));
  return {
    outdir,
    context: { ...context, 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-asset-staging': true, ...settings },
  };
}

/** Synthesizes without the validation of the CDK, which would double the time. */
export function synthUnvalidated(app: App) {
  vi.stubEnv('CDK_VALIDATION', 'false');
  try {
    return app.synth();
  } finally {
    vi.unstubAllEnvs();
  }
}

const templates = new Map<string, Template>();

/** Synthesizes the template with these settings, once. */
export function synth(settings: object): Template {
  const name = JSON.stringify(settings);
  const found = templates.get(name);
  if (found) return found;
  const assembly = synthUnvalidated(createApp(appProps(settings)));
  const template = Template.fromJSON(assembly.getStackArtifact('DocumentSyncService').template);
  templates.set(name, template);
  return template;
}

export const domain = {
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:111122223333:certificate/abc-1',
};

export const table = {
  tableName: 'Old-restored-1',
  tableStreamArn: 'arn:aws:dynamodb:eu-west-1:111122223333:table/Old-restored-1/stream/2026-01-31T12:00:00.000',
};

/** The options of each parameter. Dependent parameters form one option. */
export const choices: Record<string, object[]> = {
  architecture: [{}, { architecture: 'x86_64' }],
  encryption: [{}, { encryption: 'customer' }],
  dataRetention: [{}, { dataRetention: 'destroy' }],
  table: [{}, table],
  domain: [{}, domain, { ...domain, hostedZoneId: 'Z1', hostedZoneName: 'example.com' }],
  limits: [
    {},
    {
      functionTracing: 'on',
      cloudWatchDashboard: 'on',
      gradualDeployment: 'on',
      batchingSeconds: '1',
      logLevel: 'WARN',
      warmWritesPerSecond: '40000',
      deliverConcurrency: '50',
      throttleRate: '5',
      alarmRequestsPerSecond: '5',
      alarmClientErrorPercent: '20',
      projectThrottleRate: '5',
      authorizerCacheSeconds: '60',
      logRetentionDays: '7',
    },
  ],
  egress: [{}, { egress: 'nat' }],
  names: [
    {},
    {
      alarmEmail: 'ops@example.com',
      monthlyBudget: '100',
      stackName: 'Second',
      cloudWatchRole: 'existing',
      senderEmail: 'a@example.com',
    },
  ],
};

/** Settings that enable every option. Tests share them, because a synthesis takes a second. */
export const everyOption: Record<string, unknown> = {
  ...choices.architecture?.[1],
  ...choices.encryption?.[1],
  ...choices.dataRetention?.[1],
  ...choices.domain?.[2],
  ...choices.limits?.[1],
  ...choices.egress?.[1],
  ...choices.names?.[1],
};

/** The lowest and highest limits. */
export const extremes = {
  deliverConcurrency: '2',
  batchingSeconds: '5',
  throttleRate: '10000',
  projectThrottleRate: '2501',
};
