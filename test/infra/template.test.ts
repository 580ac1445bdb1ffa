import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { TABLE } from '../support/dynamodb-table.ts';
import { actionsOf, idIn, mappingsOf, resourcesOf, statementsOf } from './resources.ts';
import { synth } from './synth.ts';

const template = synth({});

describe('the table', () => {
  it('has the keys and indexes of the tests, deletion protection, recovery and a stream', () => {
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
});

describe('the event sources', () => {
  const [[bucket = ''] = []] = resourcesOf(template, 'AWS::S3::Bucket');
  const mappings = mappingsOf(template);
  const streams = mappings.filter(({ isStream }) => isStream);
  const queues = mappings.filter(({ isStream }) => !isStream);

  it('of stats use the shard id, keep its order, discard nothing, and are at most a minute late', () => {
    const [stats, ...others] = streams.filter(({ mapping }) => mapping.TumblingWindowInSeconds);
    expect(others).toEqual([]);
    expect(stats?.mapping.ParallelizationFactor).toBe(1);
    expect(stats?.mapping.MaximumRecordAgeInSeconds ?? -1).toBe(-1);
    expect(stats?.mapping.BisectBatchOnFunctionError ?? false).toBe(false);
    expect(stats?.mapping.MaximumBatchingWindowInSeconds).toBeLessThanOrEqual(30);
  });

  it('retry an event for half a day, then store it', () => {
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      MaximumRecordAgeInSeconds: 12 * 60 * 60,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [bucket, 'Arn'] } } },
      MetricsConfig: { Metrics: ['EventCount'] },
    });
  });

  it('store discarded events for 30 days', () => {
    const LifecycleConfiguration = { Rules: [{ ExpirationInDays: 30, Status: 'Enabled' }] };
    template.hasResourceProperties('AWS::S3::Bucket', { LifecycleConfiguration });
  });

  it('may list streams, which Lambda requires but the local stack does not', () => {
    expect(streams).toHaveLength(2);
    for (const { fn } of streams) {
      const onAll = statementsOf(template, idIn(fn.Role)).filter(({ Resource }) => Resource === '*');
      expect(onAll.flatMap(actionsOf)).toEqual(['dynamodb:ListStreams']);
    }
  });

  it('limit their concurrency without a reservation, so that waiting messages are not received', () => {
    expect(queues.length).toBeGreaterThan(0);
    const limits = queues.map(({ mapping }) => mapping.ScalingConfig?.MaximumConcurrency ?? 1000);
    expect(limits.reduce((sum, limit) => sum + limit)).toBeLessThanOrEqual(500); // of 1,000 (Lambda quotas)
    const isReserved = { ReservedConcurrentExecutions: Match.anyValue() };
    template.resourcePropertiesCountIs('AWS::Lambda::Function', isReserved, 0);
  });

  it('give up a message after 20 receives', () => {
    const byId = Object.fromEntries(resourcesOf(template, 'AWS::SQS::Queue'));
    for (const { source } of queues) expect(byId[source]?.RedrivePolicy.maxReceiveCount, source).toBe(20);
  });
});

describe('the functions', () => {
  it('run on the current Node and architecture, for at most a minute', () => {
    for (const [, properties] of resourcesOf(template, 'AWS::Lambda::Function')) {
      expect(properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
      expect(properties.Timeout).toBeLessThanOrEqual(60);
      expect(properties.TracingConfig).toBeUndefined(); // it is expensive and off by default
    }
  });
});
