import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { TABLE } from '../support/dynamodb-table.ts';
import { actionsOf, mappingsOf, resourcesOf, type Statement } from './resources.ts';
import { domain, everyOption, extremes, synth, synthStack, table } from './synth.ts';

const template = synth({});
const tags = { 'ses:configuration-set': [{ Ref: Match.stringLikeRegexp('^SenderConfigurationSet') }] };

/** A resource with properties of which there must be one. `promises.ts` states what every resource of a type has. */
const guarantees: Record<string, [type: string, properties: object]> = {
  'retries an event for half a day, then stores it': [
    'Lambda::EventSourceMapping',
    {
      MaximumRecordAgeInSeconds: 12 * 60 * 60,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['FailedEvents', 'Arn'] } } },
      MetricsConfig: { Metrics: ['EventCount'] },
    },
  ],
  'stores discarded events for 30 days': [
    'S3::Bucket',
    { LifecycleConfiguration: { Rules: [{ ExpirationInDays: 30, Status: 'Enabled' }] } },
  ],
  'counts deliveries at most a minute late': [
    'Lambda::EventSourceMapping',
    { TumblingWindowInSeconds: 900, MaximumBatchingWindowInSeconds: 30 },
  ],
  'sends emails only with TLS, and none to an address that bounced or complained': [
    'SES::ConfigurationSet',
    { DeliveryOptions: { TlsPolicy: 'REQUIRE' }, SuppressionOptions: { SuppressedReasons: ['BOUNCE', 'COMPLAINT'] } },
  ],
  'receives only reports about emails of the service': [
    'Events::Rule',
    { EventPattern: { source: ['aws.ses'], detail: { eventType: ['Bounce', 'Complaint'], mail: { tags } } } },
  ],
  'accepts only TLS 1.3, also on the default endpoint': [
    'ApiGateway::RestApi',
    { SecurityPolicy: 'SecurityPolicy_TLS13_1_3_2025_09', EndpointAccessMode: 'STRICT' },
  ],
  'passes bytes that are not UTF-8 to the functions': [
    'ApiGateway::RestApi',
    { BinaryMediaTypes: ['application/json'] },
  ],
  'receives the share of every caller from the authorizer': ['ApiGateway::RestApi', { ApiKeySourceType: 'AUTHORIZER' }],
  'calls the authorizer for every request': [
    'ApiGateway::Authorizer',
    { Type: 'REQUEST', AuthorizerResultTtlInSeconds: 0, IdentitySource: 'method.request.header.Authorization' },
  ],
  'asks clients to retry if the authorizer is unavailable': [
    'ApiGateway::GatewayResponse',
    {
      ResponseType: 'AUTHORIZER_CONFIGURATION_ERROR',
      StatusCode: '503',
      ResponseParameters: Match.objectLike({ 'gatewayresponse.header.Retry-After': "'1'" }),
    },
  ],
};

describe('the template', () => {
  it.each(Object.entries(guarantees))('%s', (_, [type, properties]) => {
    template.hasResourceProperties(`AWS::${type}`, properties);
  });

  it.each([
    ['with', everyOption],
    ['without', { webAclArn: everyOption.webAclArn }],
  ])('attaches a web ACL to the stage %s a domain', (_, settings) => {
    synth(settings).hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
      WebACLArn: everyOption.webAclArn,
      ResourceArn: { 'Fn::Join': ['', Match.arrayWith([{ Ref: 'Stage' }])] },
    });
  });

  it('limits the concurrency of every queue to the lowest setting, and bursts to the quota of an account', () => {
    const limited = { ScalingConfig: { MaximumConcurrency: 2 } };
    const changed = synth(extremes);
    changed.resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', limited, 5); // three lanes, checks and summaries
    changed.hasResourceProperties('AWS::ApiGateway::UsagePlan', { Throttle: { RateLimit: 2501, BurstLimit: 5000 } });
    const all = { HttpMethod: '*', ThrottlingRateLimit: 10_000, ThrottlingBurstLimit: 5000 };
    const MethodSettings = Match.arrayWith([Match.objectLike(all)]);
    changed.hasResourceProperties('AWS::ApiGateway::Stage', { MethodSettings });
  });

  it('lets only alarms of the account publish to its topic', () => {
    const StringEquals = { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } };
    const cloudWatch = { Service: 'cloudwatch.amazonaws.com' };
    const allowed = { Effect: 'Allow', Principal: cloudWatch, Action: 'sns:Publish', Condition: { StringEquals } };
    synth(everyOption).hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(allowed)]) },
    });
  });

  it('has a table with the keys and indexes of the tests, deletion protection, recovery and a stream', () => {
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: {
        ...TABLE,
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
      },
    });
  });

  it.each([
    ['the fan-out only for new events', 'FanOutSource', ['INSERT'], 'EVENT#'],
    ['the stats for new deliveries and every change of one', 'CountSource', ['INSERT', 'MODIFY'], 'HOOK#'],
  ])('invokes %s', (_, id, names, prefix) => {
    const mapping = mappingsOf(template).find((each) => each.id === id)?.mapping;
    const patterns = mapping?.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern));
    const dynamodb = { Keys: { pk: { S: [{ prefix }] } } };
    expect(patterns).toEqual(names.map((name) => ({ eventName: [name], dynamodb })));
  });

  it('leaves half of the concurrency of an account to the API', () => {
    const queues = mappingsOf(template).filter(({ isStream }) => !isStream);
    const limits = queues.map(({ mapping }) => mapping.ScalingConfig?.MaximumConcurrency ?? 1000);
    expect(limits.reduce((sum, limit) => sum + limit)).toBeLessThanOrEqual(500); // of 1,000 (Lambda quotas)
  });

  it('sends emails only from the sender, with any identity of the account and its configuration set', () => {
    const sending = resourcesOf(template, 'AWS::IAM::Policy').flatMap(([, { PolicyDocument }]) =>
      PolicyDocument.Statement.filter((one: Statement) => actionsOf(one).includes('ses:SendEmail')),
    );
    const [[Ref] = []] = resourcesOf(template, 'AWS::SES::ConfigurationSet');
    expect(sending.length).toBeGreaterThan(0);
    for (const { Condition, Resource } of sending) {
      expect(Condition).toEqual({ StringEquals: { 'ses:FromAddress': 'notifications@example.com' } });
      expect(Resource).toEqual([
        { 'Fn::Join': ['', expect.arrayContaining([':configuration-set/', { Ref }])] },
        { 'Fn::Join': ['', expect.arrayContaining([expect.stringMatching(/identity\/\*$/)])] },
      ]);
    }
  });

  it.each([
    [{ dataRetention: 'retain' }, true],
    [{ ...everyOption, table, dataRetention: 'retain' }, true],
    [{ dataRetention: 'destroy' }, false],
  ] as const)('with %j has termination protection: %s', (settings, isProtected) => {
    expect(synthStack(settings).terminationProtection).toBe(isProtected);
  });

  it('replaces its table by an existing one in variables, permissions, mappings and alarms', () => {
    const existing = synth({ table });
    existing.resourceCountIs('AWS::DynamoDB::Table', 0);
    const text = JSON.stringify(existing.toJSON());
    expect(text).not.toContain('{"Ref":"Table"}');
    expect(text).not.toContain('["Table","');
    const variables = resourcesOf(existing, 'AWS::Lambda::Function').flatMap(
      ([, { Environment }]) => Environment.Variables.TABLE_NAME ?? [],
    );
    expect(new Set(variables)).toEqual(new Set([table.name]));
    const streams = mappingsOf(existing).filter(({ isStream }) => isStream);
    expect(streams.map(({ mapping }) => mapping.EventSourceArn)).toEqual([table.streamArn, table.streamArn]);
    const grants = JSON.stringify(resourcesOf(existing, 'AWS::IAM::Policy'));
    expect(grants).toContain(`:table/${table.name}"`);
    expect(grants).toContain(`${table.streamArn}"`);
    const alarms = JSON.stringify(resourcesOf(existing, 'AWS::CloudWatch::Alarm'));
    expect(alarms).toContain(JSON.stringify({ Name: 'TableName', Value: table.name }));
  });
});

describe('the outputs', () => {
  it('contain the base URL once, without a trailing slash', () => {
    const urls = Object.entries(template.findOutputs('*')).filter(([name]) => /url|endpoint/i.test(name));
    expect(urls.map(([name]) => name).sort()).toEqual(['BaseUrl', 'DashboardUrl']);
    const parts = urls.find(([name]) => name === 'BaseUrl')?.[1].Value['Fn::Join'][1];
    expect(parts.at(-1)).toMatch(/\/live$/);
    synth(everyOption).hasOutput('BaseUrl', { Value: 'https://api.example.com' });
  });

  it('contain the target of a DNS record for the domain', () => {
    const target = { Value: { 'Fn::GetAtt': [Match.anyValue(), 'RegionalDomainName'] } };
    synth({ domain }).hasOutput('DomainTarget', target);
    expect(template.findOutputs('DomainTarget')).toEqual({});
  });
});
