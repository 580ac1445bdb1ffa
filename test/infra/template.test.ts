import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { extremes, synth } from './synth.ts';

const template = synth({});

// Actions without resource types (Service Authorization Reference).
const UNNAMEABLE = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords', 'dynamodb:ListStreams'];

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

  it('report partial failures', () => {
    for (const mapping of mappings.filter((each) => !isOfStats(each))) {
      expect(mapping.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
    }
  });

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

  it('store discarded events in a private, encrypted bucket that is retained', () => {
    template.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'Retain',
      Properties: {
        BucketEncryption: Match.anyValue(),
        LifecycleConfiguration: { Rules: [{ ExpirationInDays: 30, Status: 'Enabled' }] },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      },
    });
    const isSslOnly = Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } });
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: { Statement: Match.arrayWith([isSslOnly]) },
    });
  });

  it('give the functions of streams the permissions that Lambda requires', () => {
    const policies = Object.values(template.findResources('AWS::IAM::Policy'));
    const functions = template.findResources('AWS::Lambda::Function');
    const streams = Object.values(template.findResources('AWS::Lambda::EventSourceMapping')).filter(
      ({ Properties }) => Properties.StartingPosition !== undefined,
    );
    expect(streams).toHaveLength(2);
    for (const { Properties } of streams) {
      const role = functions[Properties.FunctionName.Ref]?.Properties.Role['Fn::GetAtt'][0];
      const allowedOn = (resource: unknown) =>
        policies
          .filter((policy) => policy.Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
          .flatMap((policy) => policy.Properties.PolicyDocument.Statement)
          .filter(({ Resource }) => JSON.stringify(Resource) === JSON.stringify(resource))
          .flatMap(({ Action }) => Action);
      const reading = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];
      expect(allowedOn(Properties.EventSourceArn)).toEqual(expect.arrayContaining(reading));
      expect(allowedOn('*')).toEqual(['dynamodb:ListStreams']);
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

  it('move a message to a queue with an alarm after 20 receives', () => {
    const queues = template.findResources('AWS::SQS::Queue');
    const consumed = mappings.filter(({ StartingPosition }) => StartingPosition === undefined);
    expect(consumed).toHaveLength(5); // three lanes, checks of connections and summaries
    for (const { EventSourceArn } of consumed) {
      const [id] = EventSourceArn['Fn::GetAtt'];
      const { RedrivePolicy } = queues[id]?.Properties ?? {};
      expect(RedrivePolicy?.maxReceiveCount, id).toBe(20);
      expect(queues, id).toHaveProperty(RedrivePolicy.deadLetterTargetArn['Fn::GetAtt'][0]);
    }
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Threshold: 0,
    });
  });
});

describe('a function that feeds itself', () => {
  const isSending = (queue: unknown, role: string) =>
    Object.values(template.findResources('AWS::IAM::Policy')).some(
      ({ Properties: { Roles, PolicyDocument } }) =>
        JSON.stringify(Roles).includes(role) &&
        PolicyDocument.Statement.some(
          ({ Action, Resource }: { Action: unknown; Resource: unknown }) =>
            [Action].flat().includes('sqs:SendMessage') && JSON.stringify(Resource).includes(JSON.stringify(queue)),
        ),
    );
  const functions = template.findResources('AWS::Lambda::Function');
  const feeding = Object.values(template.findResources('AWS::Lambda::EventSourceMapping')).flatMap(({ Properties }) => {
    const id: string = Properties.FunctionName.Ref;
    const role: string = functions[id]?.Properties.Role['Fn::GetAtt'][0];
    return isSending(Properties.EventSourceArn, role) ? [id] : [];
  });

  it('allows recursion, because Lambda would end the chain after about 16 invocations', () => {
    expect(feeding.length).toBe(5); // three lanes, checks of connections and summaries
    for (const id of feeding) expect(functions[id]?.Properties.RecursiveLoop, id).toBe('Allow');
  });

  it('is the only one that allows it', () => {
    const allowed = Object.keys(functions).filter((id) => functions[id]?.Properties.RecursiveLoop === 'Allow');
    expect(allowed.sort()).toEqual(feeding.sort());
  });
});

describe('a queue', () => {
  it('hides a message for six time limits of its consumer and the batching window', () => {
    const slowest = synth(extremes);
    const propertiesOf = (type: string, id: string) => slowest.findResources(type)[id]?.Properties;
    const mappings = Object.values(slowest.findResources('AWS::Lambda::EventSourceMapping'));
    const queues = mappings.filter(({ Properties }) => Properties.StartingPosition === undefined);
    expect(queues).toHaveLength(5);
    for (const { Properties } of queues) {
      const [queue] = Properties.EventSourceArn['Fn::GetAtt'];
      const { Timeout } = propertiesOf('AWS::Lambda::Function', Properties.FunctionName.Ref);
      const needed = 6 * Timeout + (Properties.MaximumBatchingWindowInSeconds ?? 0);
      expect(propertiesOf('AWS::SQS::Queue', queue).VisibilityTimeout, queue).toBeGreaterThanOrEqual(needed);
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
      expect(Properties.Environment.Variables).not.toHaveProperty('ALLOW_PRIVATE_ENDPOINTS');
    }
  });

  it('can access only granted kinds of table items', () => {
    const statements = Object.values(template.findResources('AWS::IAM::Policy')).flatMap(
      ({ Properties }) => Properties.PolicyDocument.Statement,
    );
    const onItems = statements.filter(
      ({ Action, Resource }) =>
        [Action].flat().some((action) => action.startsWith('dynamodb:')) &&
        Resource !== '*' && // has no items
        !/\/index\/|StreamArn/.test(JSON.stringify(Resource)),
    );
    expect(onItems.length).toBeGreaterThan(10);
    for (const { Action, Condition } of onItems) {
      const kinds = [Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']].flat();
      expect(
        kinds.every((kind) => /^[A-Z]+#\*$/.test(kind)),
        `${Action} on ${kinds}`,
      ).toBe(true);
    }
  });

  it('have inline policies within the 10,240 characters of a role', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::IAM::Policy')))
      expect(JSON.stringify(Properties.PolicyDocument).length).toBeLessThan(8000);
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

  it('have no wildcard resources where IAM supports a resource', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::IAM::Policy'))) {
      for (const { Action, Resource } of Properties.PolicyDocument.Statement) {
        const actions = [Action].flat();
        if ([Resource].flat().includes('*')) expect(UNNAMEABLE).toEqual(expect.arrayContaining(actions));
        expect(actions.filter((action: string) => action.includes('*'))).toEqual([]);
      }
    }
  });
});
