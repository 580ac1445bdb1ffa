import { readFileSync } from 'node:fs';
import { Stack } from 'aws-cdk-lib';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { settingsOf } from '../../infra/settings.ts';
import { addWarnings } from '../../infra/warnings.ts';
import { context, domain, everyOption, extremes, synth, table } from './synth.ts';

describe('the template', () => {
  it('follows its parameters', () => {
    const template = synth(everyOption);
    template.allResourcesProperties('AWS::Lambda::Function', { Architectures: ['x86_64'] });
    template.hasResourceProperties('AWS::KMS::Key', { EnableKeyRotation: true });
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: { SSESpecification: { SSEEnabled: true }, DeletionProtectionEnabled: false },
    });
    const isWarm = { WarmThroughput: { WriteUnitsPerSecond: 40_000, ReadUnitsPerSecond: 120_000 } };
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      ...isWarm,
      GlobalSecondaryIndexes: Match.arrayWith([Match.objectLike({ IndexName: 'by_status', ...isWarm })]),
    });
    const isGathered = { BatchSize: 100, MaximumBatchingWindowInSeconds: 1 };
    template.resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', isGathered, 4); // the stream and three lanes
    template.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
    const isLimited = { ScalingConfig: { MaximumConcurrency: 50 } };
    template.resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', isLimited, 3);
    template.hasResourceProperties('AWS::ApiGateway::Authorizer', {
      AuthorizerResultTtlInSeconds: 60,
      IdentitySource: [
        'method.request.header.Authorization',
        'context.identity.sourceIp',
        'context.httpMethod',
        'context.resourcePath',
      ].join(),
    });
    template.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: 'api.example.com',
      SecurityPolicy: 'SecurityPolicy_TLS13_1_3_2025_09',
      EndpointAccessMode: 'STRICT',
    });
    template.hasResourceProperties('AWS::ApiGateway::RestApi', {
      Name: 'Second',
      DisableExecuteApiEndpoint: true,
    });
    template.resourceCountIs('AWS::ApiGateway::Account', 0);
    template.allResourcesProperties('AWS::Lambda::Function', {
      TracingConfig: { Mode: 'Active' },
      Environment: { Variables: { POWERTOOLS_METRICS_NAMESPACE: 'Second', POWERTOOLS_LOG_LEVEL: 'WARN' } },
    });
    template.hasOutput('BaseUrl', { Value: 'https://api.example.com' });
    template.resourceCountIs('AWS::Route53::RecordSet', 1);
    template.hasResourceProperties('AWS::SNS::Subscription', { Endpoint: 'ops@example.com' });
  });

  it('limits the concurrency of every queue to the lowest setting', () => {
    const template = synth(extremes);
    const limited = { ScalingConfig: { MaximumConcurrency: 2 } };
    template.resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', limited, 5); // three lanes, checks and summaries
  });

  it('limits bursts to the quota of an account', () => {
    const template = synth(extremes);
    template.hasResourceProperties('AWS::ApiGateway::UsagePlan', { Throttle: { RateLimit: 2501, BurstLimit: 5000 } });
    const all = { HttpMethod: '*', ThrottlingRateLimit: 10_000, ThrottlingBurstLimit: 5000 };
    template.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: Match.arrayWith([Match.objectLike(all)]),
    });
  });

  it.each([
    [{ senderEmail: 'nobody' }, 'senderEmail'],
    [{ architecture: 'mips' }, 'architecture'],
    [{ authorizerCacheSeconds: '1.5' }, 'authorizerCacheSeconds must be an integer from 0 to 3600'],
    [{ authorizerCacheSeconds: '3601' }, 'authorizerCacheSeconds'],
    [{ deliverConcurrency: '1' }, 'deliverConcurrency must be an integer from 2 to 1000'],
    [{ logRetentionDays: '31' }, 'logRetentionDays must be one of'],
    [{ domainName: 'api.example.com' }, 'domainName and certificateArn, or neither'],
    [{ hostedZoneId: 'Z1' }, 'hostedZoneId and hostedZoneName, or neither'],
    [{ hostedZoneId: 'Z1', hostedZoneName: 'example.com' }, 'domainName must be a name in the zone'],
    [{ ...domain, hostedZoneId: 'Z1', hostedZoneName: 'example.org' }, 'domainName must be a name in the zone'],
    [{ ...domain, hostedZoneId: 'Z1', hostedZoneName: 'ample.com' }, 'domainName must be a name in the zone'],
    [{ tableName: table.tableName }, 'tableName and tableStreamArn, for the same table, or neither'],
    [{ ...table, tableName: 'Other' }, 'tableName and tableStreamArn, for the same table, or neither'],
    [{ stackName: '1st' }, 'stackName'],
    [{ functionTracing: 'true' }, 'functionTracing'],
    [{ cloudWatchDashboard: 'true' }, 'cloudWatchDashboard'],
    [{ batchingSeconds: '6' }, 'batchingSeconds'],
    [{ monthlyBudget: '100' }, 'monthlyBudget needs alarmEmail'],
    [{ warmWritesPerSecond: '3999' }, 'warmWritesPerSecond'],
    [{ warmWritesPerSecond: '40001' }, 'warmWritesPerSecond'],
  ])('is rejected with %o', (settings, message) => {
    expect(() => settingsOf(settings)).toThrow(message);
  });
});

describe('an existing table', () => {
  it('replaces the table of the stack in variables, permissions, mappings and alarms', () => {
    const template = synth(table);
    template.resourceCountIs('AWS::DynamoDB::Table', 0);
    const text = JSON.stringify(template.toJSON());
    expect(text).not.toContain('{"Ref":"Table"}');
    expect(text).not.toContain('["Table","');
    const variables = Object.values(template.findResources('AWS::Lambda::Function')).map(
      ({ Properties }) => Properties.Environment?.Variables.TABLE_NAME,
    );
    expect(new Set(variables.filter((name) => name !== undefined))).toEqual(new Set([table.tableName]));
    for (const id of ['FanOutSource', 'CountSource']) {
      const { Properties } = template.findResources('AWS::Lambda::EventSourceMapping')[id] ?? {};
      expect(Properties).toMatchObject({ EventSourceArn: table.tableStreamArn, StartingPosition: 'TRIM_HORIZON' });
    }
    const grants = Object.values(template.findResources('AWS::IAM::Policy')).map((policy) => JSON.stringify(policy));
    expect(grants.some((grant) => grant.includes(`:table/${table.tableName}"`))).toBe(true);
    expect(grants.some((grant) => grant.includes(`${table.tableStreamArn}"`))).toBe(true);
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Metrics: Match.arrayWith([
        Match.objectLike({
          MetricStat: Match.objectLike({
            Metric: Match.objectLike({ Dimensions: Match.arrayWith([{ Name: 'TableName', Value: table.tableName }]) }),
          }),
        }),
      ]),
    });
  });
});

describe('a synthesis', () => {
  const senderEmail = 'a@example.com';
  const alarmEmail = 'ops@example.com';

  it.each([
    [{ alarmEmail }, ['senderEmail']],
    [{ senderEmail }, ['alarmEmail']],
    [{ senderEmail, alarmEmail, projectThrottleRate: '501' }, ['throttleRate']],
    [{ senderEmail, alarmEmail, throttleRate: '999' }, ['throttleRate']],
    [{ senderEmail, alarmEmail }, []],
  ])('with %o warns about %o', (settings, parameters) => {
    const stack = new Stack();
    addWarnings(stack, settingsOf(settings));
    const warnings = stack.node.metadata.filter(({ type }) => type === 'aws:cdk:warning');
    expect(warnings.map(({ data }) => /-c (\w+)=/.exec(String(data))?.[1])).toEqual(parameters);
  });
});

describe('the outputs', () => {
  it('contain the base URL once, without a trailing slash', () => {
    const urls = Object.entries(synth({}).findOutputs('*')).filter(([name]) => /url|endpoint/i.test(name));
    expect(urls.map(([name]) => name).sort()).toEqual(['BaseUrl', 'DashboardUrl']);
    const parts = urls.find(([name]) => name === 'BaseUrl')?.[1].Value['Fn::Join'][1];
    expect(parts.at(-1)).toMatch(/\/live$/);
  });

  it('contain the target of a CNAME record without a hosted zone', () => {
    const target = { Value: { 'Fn::GetAtt': [Match.anyValue(), 'RegionalDomainName'] } };
    synth(domain).hasOutput('DomainTarget', target);
    expect(synth(everyOption).findOutputs('DomainTarget')).toEqual({});
  });
});

describe('a stage', () => {
  const deploymentOf = (settings: object) => {
    const [stage] = Object.values(synth(settings).findResources('AWS::ApiGateway::Stage'));
    return stage?.Properties.DeploymentId.Ref;
  };

  it('gets a new deployment for each change of the authorizer', () => {
    expect(deploymentOf({ authorizerCacheSeconds: '60' })).not.toBe(deploymentOf({}));
    expect(deploymentOf(table)).toBe(deploymentOf({}));
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
    const template = synth(everyOption);
    const statement = {
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: 'sns:Publish',
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    };
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(statement)]) },
    });
  });
});
