import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { actionsOf, idIn, mappingsOf, statementsOf } from './resources.ts';
import { synth } from './synth.ts';

const template = synth({});

describe('the table', () => {
  it('has deletion protection, recovery and a stream', () => {
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: {
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
      },
    });
  });
});

describe('the event sources', () => {
  const [bucket = ''] = Object.keys(template.findResources('AWS::S3::Bucket'));

  const mappings = Object.values(template.findResources('AWS::Lambda::EventSourceMapping')).map(
    ({ Properties }) => Properties,
  );
  const isOfStats = ({ TumblingWindowInSeconds }: { TumblingWindowInSeconds?: number }) => !!TumblingWindowInSeconds;

  it('of stats use the shard id, keep its order, discard nothing, and are at most a minute late', () => {
    const [mapping, ...others] = mappings.filter(isOfStats);
    expect(others).toEqual([]);
    expect(mapping).toMatchObject({ ParallelizationFactor: 1, MaximumRetryAttempts: -1 });
    expect(mapping?.MaximumRecordAgeInSeconds ?? -1).toBe(-1);
    expect(mapping?.BisectBatchOnFunctionError ?? false).toBe(false);
    expect(mapping?.MaximumBatchingWindowInSeconds).toBeLessThanOrEqual(30);
  });

  it('retry an event for half a day without a limit on tries, then store it', () => {
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      MaximumRecordAgeInSeconds: 12 * 60 * 60,
      MaximumRetryAttempts: -1,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [bucket, 'Arn'] } } },
      MetricsConfig: { Metrics: ['EventCount'] },
    });
  });

  it('store discarded events for 30 days', () => {
    template.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'Retain',
      Properties: {
        LifecycleConfiguration: { Rules: [{ ExpirationInDays: 30, Status: 'Enabled' }] },
      },
    });
  });

  it('may list streams, which Lambda requires but the local stack does not', () => {
    const streams = mappingsOf(template).filter(({ isStream }) => isStream);
    expect(streams).toHaveLength(2);
    for (const { fn } of streams) {
      const onAll = statementsOf(template, idIn(fn.Role)).filter(({ Resource }) => Resource === '*');
      expect(onAll.flatMap(actionsOf)).toEqual(['dynamodb:ListStreams']);
    }
  });

  it('limit their concurrency without a reservation, so that waiting messages are not received', () => {
    const mappings = Object.values(template.findResources('AWS::Lambda::EventSourceMapping'));
    const queues = mappings.filter(({ Properties }) => Properties.StartingPosition === undefined);
    expect(queues.length).toBeGreaterThan(0);
    const limits = queues.map(({ Properties }) => Properties.ScalingConfig?.MaximumConcurrency ?? 1000);
    expect(limits.reduce((sum, limit) => sum + limit)).toBeLessThanOrEqual(500); // of 1,000 (Lambda quotas)
    const isReserved = { ReservedConcurrentExecutions: Match.anyValue() };
    template.resourcePropertiesCountIs('AWS::Lambda::Function', isReserved, 0);
  });

  it('give up a message after 20 receives', () => {
    const queues = template.findResources('AWS::SQS::Queue');
    const consumed = mappings.filter(({ StartingPosition }) => StartingPosition === undefined);
    for (const { EventSourceArn } of consumed) {
      const [id] = EventSourceArn['Fn::GetAtt'];
      const { RedrivePolicy } = queues[id]?.Properties ?? {};
      expect(RedrivePolicy?.maxReceiveCount, id).toBe(20);
    }
  });
});

describe('the functions', () => {
  it('run on the current Node and architecture, with a timeout that fits their queue', () => {
    const functions = Object.values(template.findResources('AWS::Lambda::Function'));
    for (const { Properties } of functions) {
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
      expect(Properties.Timeout).toBeLessThanOrEqual(60);
      expect(Properties.TracingConfig).toBeUndefined(); // it is expensive and off by default
    }
  });

  it('can send email only from the sender, with any identity of the account and its configuration set', () => {
    const [configurationSet] = Object.keys(template.findResources('AWS::SES::ConfigurationSet'));
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: 'ses:SendEmail',
            Condition: { StringEquals: { 'ses:FromAddress': 'notifications@example.com' } },
            Resource: [
              { 'Fn::Join': ['', Match.arrayWith([':configuration-set/', { Ref: configurationSet }])] },
              { 'Fn::Join': ['', Match.arrayWith([Match.stringLikeRegexp('identity/\\*')])] },
            ],
          }),
        ]),
      },
    });
  });
});
