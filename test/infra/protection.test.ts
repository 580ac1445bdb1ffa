import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../infra/stack.ts';
import { actionsOf, mappingsOf, resourcesOf, type Statement } from './resources.ts';
import { appProps, everyOption, synth, synthUnvalidated } from './synth.ts';

const template = synth({});
const DAY_SECONDS = 86_400;
const statementsOn = (action: string): Statement[] =>
  resourcesOf(template, 'AWS::IAM::Policy').flatMap(([, { PolicyDocument }]) =>
    PolicyDocument.Statement.filter((one: Statement) => actionsOf(one).includes(action)),
  );

describe('data and logs', () => {
  it('stay in a queue for 14 days, so that an outage over a long weekend loses nothing', () => {
    template.allResourcesProperties('AWS::SQS::Queue', { MessageRetentionPeriod: 14 * DAY_SECONDS });
  });

  it('are deleted from every log group after the retention of the settings', () => {
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
    synth(everyOption).allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 7 });
  });
});

describe('the stack', () => {
  it.each([
    ['retain', true],
    ['destroy', false],
  ] as const)('with dataRetention=%s has termination protection: %s', (dataRetention, isProtected) => {
    const { artifacts } = synthUnvalidated(createApp(appProps({ dataRetention }))).manifest;
    expect(artifacts?.DocumentSyncService?.properties).toMatchObject({ terminationProtection: isProtected });
  });
});

describe('an email', () => {
  const [[configurationSet] = []] = resourcesOf(template, 'AWS::SES::ConfigurationSet');

  it('needs TLS, and is not sent to an address that bounced or complained', () => {
    template.hasResourceProperties('AWS::SES::ConfigurationSet', {
      DeliveryOptions: { TlsPolicy: 'REQUIRE' },
      SuppressionOptions: { SuppressedReasons: ['BOUNCE', 'COMPLAINT'] },
    });
  });

  it('is sent only from the sender, with any identity of the account and its configuration set', () => {
    const sending = statementsOn('ses:SendEmail');
    expect(sending.length).toBeGreaterThan(0);
    for (const { Condition, Resource } of sending) {
      expect(Condition).toEqual({ StringEquals: { 'ses:FromAddress': 'notifications@example.com' } });
      expect(Resource).toEqual([
        { 'Fn::Join': ['', expect.arrayContaining([':configuration-set/', { Ref: configurationSet }])] },
        { 'Fn::Join': ['', expect.arrayContaining([expect.stringMatching(/identity\/\*$/)])] },
      ]);
    }
  });

  it('causes events only with the configuration set of this service', () => {
    const mail = { tags: { 'ses:configuration-set': [{ Ref: configurationSet }] } };
    const EventPattern = { source: ['aws.ses'], detail: { eventType: ['Bounce', 'Complaint'], mail } };
    template.hasResourceProperties('AWS::Events::Rule', { EventPattern });
  });
});

describe('a permission of another service', () => {
  it('covers only the schedules of this service', () => {
    const schedules = { 'Fn::GetAtt': ['RetrySchedules', 'Arn'] };
    const StringEquals = { 'aws:SourceAccount': { Ref: 'AWS::AccountId' }, 'aws:SourceArn': schedules };
    const Statement = [
      Match.objectLike({ Principal: { Service: 'scheduler.amazonaws.com' }, Condition: { StringEquals } }),
    ];
    template.hasResourceProperties('AWS::IAM::Role', { AssumeRolePolicyDocument: { Statement } });
  });

  it('covers the role of schedules only for schedules', () => {
    const isForScheduler = { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } };
    const threeLanes = [isForScheduler, isForScheduler, isForScheduler];
    expect(statementsOn('iam:PassRole').map(({ Condition }) => Condition)).toEqual(threeLanes);
  });
});

describe('the stream of the table', () => {
  it.each([
    ['the fan-out only for new events', false, ['INSERT'], 'EVENT#'],
    ['the stats for new deliveries and every change of one', true, ['INSERT', 'MODIFY'], 'HOOK#'],
  ])('invokes %s', (_, isOfStats, names, prefix) => {
    const [{ mapping } = {}] = mappingsOf(template).filter(
      (each) => each.isStream && (each.mapping.TumblingWindowInSeconds !== undefined) === isOfStats,
    );
    const patterns = mapping?.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern));
    const dynamodb = { Keys: { pk: { S: [{ prefix }] } } };
    expect(patterns).toEqual(names.map((name) => ({ eventName: [name], dynamodb })));
  });
});

describe('an alarm on a stream that nobody reads', () => {
  it('fires without a value', () => {
    const stopped = { ComparisonOperator: 'LessThanThreshold', TreatMissingData: 'breaching' };
    template.resourcePropertiesCountIs('AWS::CloudWatch::Alarm', stopped, 2);
  });
});
