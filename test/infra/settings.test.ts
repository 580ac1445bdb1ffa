import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import { type SettingsInput, settingsOf } from '../../infra/settings.ts';
import { createApp } from '../../infra/stack.ts';
import { mappingsOf, resourcesOf } from './resources.ts';
import {
  appProps,
  choices,
  context,
  domain,
  everyOption,
  extremes,
  network,
  synth,
  synthUnvalidated,
  table,
} from './synth.ts';

describe('the template', () => {
  it('follows its settings', () => {
    const template = synth(everyOption);
    template.hasResourceProperties('AWS::KMS::Key', { EnableKeyRotation: true });
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: { SSESpecification: { SSEEnabled: true }, DeletionProtectionEnabled: false },
    });
    const isGathered = { BatchSize: 100, MaximumBatchingWindowInSeconds: 1 };
    template.resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', isGathered, 4); // the stream and three lanes
    const isLimited = { ScalingConfig: { MaximumConcurrency: 50 } };
    template.resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', isLimited, 3);
    template.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: 'api.example.com',
      SecurityPolicy: 'SecurityPolicy_TLS13_1_3_2025_09',
      EndpointAccessMode: 'STRICT',
    });
    template.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true });
    template.resourceCountIs('AWS::ApiGateway::Account', 0);
    template.hasOutput('BaseUrl', { Value: 'https://api.example.com' });
    template.hasResourceProperties('AWS::SNS::Subscription', { Endpoint: 'ops@example.com' });
    template.hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
      WebACLArn: everyOption.webAclArn,
      ResourceArn: { 'Fn::Join': ['', Match.arrayWith([{ Ref: 'Stage' }])] },
    });
  });

  it('attaches a web ACL to the stage without a domain too', () => {
    synth(choices.names?.[1] ?? {}).resourceCountIs('AWS::WAFv2::WebACLAssociation', 1);
  });

  it('limits the concurrency of every queue to the lowest setting, and bursts to the quota of an account', () => {
    const template = synth(extremes);
    const limited = { ScalingConfig: { MaximumConcurrency: 2 } };
    template.resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', limited, 5); // three lanes, checks and summaries
    template.hasResourceProperties('AWS::ApiGateway::UsagePlan', { Throttle: { RateLimit: 2501, BurstLimit: 5000 } });
    const all = { HttpMethod: '*', ThrottlingRateLimit: 10_000, ThrottlingBurstLimit: 5000 };
    template.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: Match.arrayWith([Match.objectLike(all)]),
    });
  });
});

describe('the settings', () => {
  it('are at most 15', () => {
    expect(Object.keys(settingsOf({ ...everyOption, table })).length).toBeLessThanOrEqual(15);
  });

  it('have tests of a value other than the default', () => {
    const tested = Object.values(choices).flatMap((options) => options.flatMap((each) => Object.keys(each)));
    expect([...new Set(tested)].sort()).toEqual(Object.keys(settingsOf({ ...everyOption, table })).sort());
  });

  it.each([
    [{ senderEmail: 'nobody' }, 'senderEmail must be an email address'],
    [{ deliverConcurrency: 1 }, 'deliverConcurrency must be an integer from 2 to 1000'],
    [{ deliverConcurrency: '50' }, 'deliverConcurrency must be an integer from 2 to 1000'],
    [{ batchingSeconds: 1.5 }, 'batchingSeconds must be an integer from 0 to 5'],
    [{ throttles: { methodPerSecond: 0 } }, 'throttles.methodPerSecond must be an integer from 1 to 10000'],
    [{ throttles: { rate: 5 } }, 'throttles.rate is not a setting'],
    [{ throttleRate: 5 }, 'throttleRate is not a setting'],
    [{ logRetentionDays: 31 }, 'logRetentionDays must be one of 1, 3, 5'],
    [{ domain: { name: 'api.example.com' } }, 'domain.certificateArn is missing'],
    [{ domain: { ...domain, name: 'API' } }, 'domain.name must be a domain name in lower case'],
    [{ table: { name: table.name } }, 'table.streamArn is missing'],
    [{ table: { ...table, name: 'Other' } }, 'table must have the name and the stream of the same table'],
    [{ stackName: '1st' }, 'stackName must be up to 128 letters'],
    [{ encryption: true }, 'encryption must be aws or customer'],
    [{ egress: 'vpc' }, 'egress must be "nat" or {"vpcId"'],
    [{ egress: { ...network, subnetIds: [] } }, 'egress.subnetIds must have at least one subnet'],
    [{ alarms: {} }, 'alarms must be {"email"'],
    [{ alarms: { email: 'ops' } }, 'alarms.email must be an email address'],
    [
      { webAclArn: 'arn:aws:wafv2:us-east-1:111122223333:global/webacl/a/1' },
      'webAclArn must be the ARN of a regional',
    ],
  ])('reject %o', (settings, message) => {
    expect(() => settingsOf(settings)).toThrow(message);
  });

  it('name every violation in one error', () => {
    const invalid = { batchingSeconds: 6, domain: { name: 'api.example.com' }, logLevel: 'WARN' };
    expect(() => settingsOf(invalid)).toThrow(
      `Correct the settings:
  domain.certificateArn is missing
  batchingSeconds must be an integer from 0 to 5
  logLevel is not a setting`,
    );
  });

  it('accept the retention periods of CloudWatch', () => {
    const periods = Object.values(RetentionDays).filter((days) => typeof days === 'number');
    for (const logRetentionDays of periods.filter((days) => days !== RetentionDays.INFINITE))
      expect(settingsOf({ logRetentionDays }).logRetentionDays).toBe(logRetentionDays);
  });
});

describe('an existing table', () => {
  it('replaces the table of the stack in variables, permissions, mappings and alarms', () => {
    const template = synth({ table });
    template.resourceCountIs('AWS::DynamoDB::Table', 0);
    const text = JSON.stringify(template.toJSON());
    expect(text).not.toContain('{"Ref":"Table"}');
    expect(text).not.toContain('["Table","');
    const variables = resourcesOf(template, 'AWS::Lambda::Function').flatMap(
      ([, { Environment }]) => Environment.Variables.TABLE_NAME ?? [],
    );
    expect(new Set(variables)).toEqual(new Set([table.name]));
    const streams = mappingsOf(template).filter(({ isStream }) => isStream);
    expect(streams.map(({ mapping }) => mapping.EventSourceArn)).toEqual([table.streamArn, table.streamArn]);
    const grants = JSON.stringify(resourcesOf(template, 'AWS::IAM::Policy'));
    expect(grants).toContain(`:table/${table.name}"`);
    expect(grants).toContain(`${table.streamArn}"`);
    const alarms = JSON.stringify(resourcesOf(template, 'AWS::CloudWatch::Alarm'));
    expect(alarms).toContain(JSON.stringify({ Name: 'TableName', Value: table.name }));
  });
});

describe('a synthesis', () => {
  const warningsWith = (settings: SettingsInput) => {
    const { messages } = synthUnvalidated(createApp(appProps(settings))).getStackArtifact('DocumentSyncService');
    return messages.filter(({ level }) => level !== 'info').map(({ entry }) => String(entry.data));
  };

  it('warns only about the sender by default', () => {
    expect(warningsWith({})).toEqual([expect.stringContaining('run npm run init')]);
  });

  it.each([[{}], [everyOption]])('warns about nothing with a sender and %o', (settings) => {
    expect(warningsWith({ ...settings, senderEmail: 'a@example.com' })).toEqual([]);
  });
});

describe('the outputs', () => {
  it('contain the base URL once, without a trailing slash', () => {
    const urls = Object.entries(synth({}).findOutputs('*')).filter(([name]) => /url|endpoint/i.test(name));
    expect(urls.map(([name]) => name).sort()).toEqual(['BaseUrl', 'DashboardUrl']);
    const parts = urls.find(([name]) => name === 'BaseUrl')?.[1].Value['Fn::Join'][1];
    expect(parts.at(-1)).toMatch(/\/live$/);
  });

  it('contain the target of a DNS record for the domain', () => {
    const target = { Value: { 'Fn::GetAtt': [Match.anyValue(), 'RegionalDomainName'] } };
    synth({ domain }).hasOutput('DomainTarget', target);
    expect(synth({}).findOutputs('DomainTarget')).toEqual({});
  });
});

describe('cdk.json', () => {
  it('sets every recommended feature flag of the CDK', () => {
    const path = 'node_modules/aws-cdk-lib/recommended-feature-flags.json';
    const recommended = Object.keys(JSON.parse(readFileSync(path, 'utf8')));
    expect(recommended.filter((flag) => !(flag in context))).toEqual([]);
  });
});

describe('an alarm', () => {
  it('allows only CloudWatch in this account to publish', () => {
    const StringEquals = { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } };
    const cloudWatch = { Service: 'cloudwatch.amazonaws.com' };
    const allowed = { Effect: 'Allow', Principal: cloudWatch, Action: 'sns:Publish', Condition: { StringEquals } };
    synth(everyOption).hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(allowed)]) },
    });
  });
});
