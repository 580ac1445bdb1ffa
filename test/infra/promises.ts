import type { Template } from 'aws-cdk-lib/assertions';
import { actionsOf, idIn, isOn, mappingsOf, resourcesOf, type Statement, statementsOf } from './resources.ts';

/** Returns the ids of the resources that break a promise. */
type Promised = (template: Template) => string[];

/** The ids of the resources of a type for which a condition is false. */
const each =
  // biome-ignore lint/suspicious/noExplicitAny: properties of any type of resource
    (type: string, isKept: (properties: any, template: Template, id: string) => boolean): Promised =>
    (template) =>
      resourcesOf(template, type).flatMap(([id, properties]) => (isKept(properties, template, id) ? [] : [id]));

const queuesOf = (template: Template) => resourcesOf(template, 'AWS::SQS::Queue');

type Mapping = ReturnType<typeof mappingsOf>[number];

/** The event sources for which a condition is false. */
const eachMapping =
  (isKept: (mapping: Mapping, template: Template) => unknown): Promised =>
  (template) =>
    mappingsOf(template).flatMap((mapping) => (isKept(mapping, template) ? [] : [mapping.id]));

/** The policies of functions and schedules with a statement for which a condition is false. */
const eachStatement =
  (isKept: (statement: Statement, template: Template) => boolean): Promised =>
  (template) =>
    resourcesOf(template, 'AWS::IAM::Policy').flatMap(([id, { PolicyDocument }]) =>
      PolicyDocument.Statement.every((statement: Statement) => isKept(statement, template)) ? [] : [id],
    );

/** The permissions on the key of a resource that calls with an action need (KMS Developer Guide, of each service). */
const KEY_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  'sqs:SendMessage': ['kms:GenerateDataKey', 'kms:Decrypt'],
  'sqs:ReceiveMessage': ['kms:Decrypt'],
  's3:PutObject': ['kms:GenerateDataKey'],
  'dynamodb:GetItem': ['kms:Decrypt'],
  'dynamodb:BatchGetItem': ['kms:Decrypt'],
  'dynamodb:Query': ['kms:Decrypt'],
  'dynamodb:PutItem': ['kms:Encrypt', 'kms:Decrypt'],
  'dynamodb:UpdateItem': ['kms:Encrypt', 'kms:Decrypt'],
  'dynamodb:DeleteItem': ['kms:Encrypt', 'kms:Decrypt'],
  'dynamodb:GetRecords': ['kms:Decrypt'],
};

/** The resources that a customer-managed key encrypts, by logical id. */
export function encryptedBy(template: Template): Map<string, string> {
  const keys = resourcesOf(template, 'AWS::KMS::Key').map(([id]) => id);
  const types = [
    'AWS::SQS::Queue',
    'AWS::S3::Bucket',
    'AWS::DynamoDB::Table',
    'AWS::SNS::Topic',
    'AWS::Logs::LogGroup',
  ];
  return new Map(
    types.flatMap((type) =>
      resourcesOf(template, type).flatMap(([id, properties]) => {
        const key = keys.find((each) => JSON.stringify(properties).includes(`"Fn::GetAtt":["${each}",`));
        return key === undefined ? [] : [[id, key] as const];
      }),
    ),
  );
}

/**
 * The promises that every resource of a type keeps, with any settings. cdk-nag decides about TLS for queues and buckets, public
 * buckets, execution logs and wildcards in permissions (`test/stack/long/settings.test.ts`).
 */
export const promises: Readonly<Record<string, Promised>> = {
  'an alarm notifies the topic in the outputs of its start and its end, if there is one': (template) => {
    const outputs = Object.values(template.findOutputs('AlarmTopic'));
    const topics = outputs.map(({ Value }) => Value);
    const isKept = ({ AlarmActions = [], OKActions = [], ActionsEnabled = true }) =>
      ActionsEnabled && JSON.stringify([AlarmActions, OKActions]) === JSON.stringify([topics, topics]);
    return each('AWS::CloudWatch::Alarm', isKept)(template);
  },

  'a dead-letter queue has an alarm on its first message': (template) => {
    const consumed = mappingsOf(template).map(({ source }) => source);
    const watched = resourcesOf(template, 'AWS::CloudWatch::Alarm').flatMap(
      ([, { MetricName, Threshold, Dimensions = [] }]) =>
        MetricName === 'ApproximateNumberOfMessagesVisible' && Threshold === 0 ? [idIn(Dimensions[0]?.Value)] : [],
    );
    return queuesOf(template).flatMap(([id]) => (consumed.includes(id) || watched.includes(id) ? [] : [id]));
  },

  'an alarm on a backlog watches its maximum': each(
    'AWS::CloudWatch::Alarm',
    ({ MetricName, Statistic }) =>
      !/^(ApproximateNumberOfMessagesVisible|ApproximateAgeOfOldestMessage|IteratorAge)$/.test(MetricName) ||
      Statistic === 'Maximum',
  ),

  'a bucket deletes all its objects after a time, whatever their names': each(
    'AWS::S3::Bucket',
    ({ LifecycleConfiguration }) =>
      JSON.stringify(LifecycleConfiguration?.Rules) ===
      JSON.stringify([
        { ExpirationInDays: 30, NoncurrentVersionExpiration: { NoncurrentDays: 7 }, Status: 'Enabled' },
        { ExpiredObjectDeleteMarker: true, Status: 'Enabled' },
      ]),
  ),

  'a bucket keeps deleted objects as versions': each(
    'AWS::S3::Bucket',
    ({ VersioningConfiguration }) => VersioningConfiguration?.Status === 'Enabled',
  ),

  'a queue with a consumer has a dead-letter queue, for messages that it returned 20 times': (template) => {
    const consumed = mappingsOf(template).map(({ source }) => source);
    const ids = queuesOf(template).map(([id]) => id);
    return queuesOf(template).flatMap(([id, { RedrivePolicy }]) => {
      const target = idIn(RedrivePolicy?.deadLetterTargetArn);
      const isKept = ids.includes(target) && !consumed.includes(target) && RedrivePolicy.maxReceiveCount === 20;
      return consumed.includes(id) && !isKept ? [id] : [];
    });
  },

  'a queue keeps its messages for 14 days, so that an outage over a long weekend loses nothing': each(
    'AWS::SQS::Queue',
    ({ MessageRetentionPeriod }) => MessageRetentionPeriod === 14 * 86_400,
  ),

  'a queue is encrypted': each(
    'AWS::SQS::Queue',
    ({ KmsMasterKeyId, SqsManagedSseEnabled }) => KmsMasterKeyId !== undefined || SqsManagedSseEnabled === true,
  ),

  'an alarm can use the key of the topic that it publishes to': (template) => {
    const needed = ['kms:Decrypt', 'kms:GenerateDataKey*'];
    const ofCloudWatch = ({ Principal }: { Principal: { Service?: unknown } }) =>
      Principal.Service === 'cloudwatch.amazonaws.com';
    const keys = new Map(
      resourcesOf(template, 'AWS::KMS::Key').map(([id, { KeyPolicy }]) => [
        id,
        KeyPolicy.Statement.filter(ofCloudWatch).flatMap(actionsOf),
      ]),
    );
    const isKept = ({ KmsMasterKeyId: key }: { KmsMasterKeyId?: object }) =>
      key === undefined ? keys.size === 0 : needed.every((action) => keys.get(idIn(key))?.includes(action));
    return each('AWS::SNS::Topic', isKept)(template);
  },

  'a role can use the key of everything that it reads or writes': (template) => {
    const encrypted = [...encryptedBy(template)];
    return resourcesOf(template, 'AWS::IAM::Role').flatMap(([role]) => {
      const statements = statementsOf(template, role);
      const missing = encrypted.flatMap(([id, key]) => {
        // A condition, such as `kms:ViaService`, could exclude a service.
        const permitted = statements.filter((one) => isOn(one, key) && !one.Condition).flatMap(actionsOf);
        const used = statements.filter((one) => isOn(one, id)).flatMap(actionsOf);
        return used.flatMap((action) => KEY_ACTIONS[action] ?? []).filter((needed) => !permitted.includes(needed));
      });
      return [...new Set(missing)].map((action) => `${role} ${action}`);
    });
  },

  'a function writes all lines at INFO, as JSON, to its own log group': (template) => {
    const groups = resourcesOf(template, 'AWS::Lambda::Function').map(([, { LoggingConfig }]) =>
      idIn(LoggingConfig?.LogGroup),
    );
    // Metrics are lines of the log at INFO. A higher level would stop their alarms.
    const isKept = ({
      LoggingConfig: log,
    }: {
      LoggingConfig: { ApplicationLogLevel: string; SystemLogLevel: string; LogFormat: string; LogGroup: object };
    }) =>
      log.ApplicationLogLevel === 'INFO' &&
      ['WARN', 'INFO', 'DEBUG'].includes(log.SystemLogLevel) &&
      log.LogFormat === 'JSON' &&
      groups.filter((id) => id !== '' && id === idIn(log.LogGroup)).length === 1;
    return each('AWS::Lambda::Function', isKept)(template);
  },

  // Traces are expensive. Waiting messages are received if a function with reserved concurrency cannot handle them.
  'a function runs on the current Node and architecture for at most a minute, without traces and a reservation': each(
    'AWS::Lambda::Function',
    ({ Runtime, Architectures, Handler, Timeout, TracingConfig, ReservedConcurrentExecutions }) =>
      `${Runtime} ${Architectures} ${Handler}` === 'nodejs24.x arm64 index.handler' &&
      Timeout <= 60 &&
      (TracingConfig ?? ReservedConcurrentExecutions) === undefined,
  ),

  'a log group expires': each('AWS::Logs::LogGroup', ({ RetentionInDays }) => RetentionInDays > 0),

  'the environment variables of a function have at most 4 KB': each(
    'AWS::Lambda::Function',
    ({ Environment: { Variables } }) => Buffer.byteLength(JSON.stringify(Variables)) <= 4096,
  ),

  // Lambda ends a chain after about 16 invocations of a function (Lambda Developer Guide, "Use Lambda recursive loop detection").
  'messages of a function can reach it again exactly if Lambda allows the recursion': (template) => {
    const mappings = mappingsOf(template);
    const next = ({ fn }: Mapping) =>
      mappings.filter(({ source }) =>
        statementsOf(template, idIn(fn.Role)).some(
          (one) => actionsOf(one).includes('sqs:SendMessage') && isOn(one, source),
        ),
      );
    return mappings.flatMap((mapping) => {
      const reached = new Set(next(mapping));
      for (const each of reached) for (const other of next(each)) reached.add(other);
      return reached.has(mapping) === (mapping.fn.RecursiveLoop === 'Allow') ? [] : [mapping.id];
    });
  },

  'a function reports the failed items of its batches': eachMapping(
    ({ mapping }) =>
      mapping.TumblingWindowInSeconds || String(mapping.FunctionResponseTypes) === 'ReportBatchItemFailures',
  ),

  'a queue hides a message for six time limits of its consumer and the batching window': eachMapping(
    ({ source, fn, mapping, isStream }, template) => {
      const [, queue] = queuesOf(template).find(([id]) => id === source) ?? [];
      const needed = 6 * fn.Timeout + (mapping.MaximumBatchingWindowInSeconds ?? 0);
      return isStream || queue?.VisibilityTimeout >= needed;
    },
  ),

  'a stream is read from its oldest record, without a limit on tries': eachMapping(
    ({ isStream, mapping }) =>
      !isStream || (mapping.StartingPosition === 'TRIM_HORIZON' && mapping.MaximumRetryAttempts === -1),
  ),

  'a stream without a fixed order of batches bisects a failing batch, and keeps what it discards': eachMapping(
    ({ isStream, mapping }) => {
      const isKept =
        mapping.BisectBatchOnFunctionError === true && idIn(mapping.DestinationConfig?.OnFailure.Destination) !== '';
      // A tumbling window needs whole batches in the order of a shard. It discards nothing before the stream does.
      const isOrdered =
        mapping.TumblingWindowInSeconds > 0 &&
        mapping.ParallelizationFactor === 1 &&
        (mapping.MaximumRecordAgeInSeconds ?? -1) === -1;
      return !isStream || isOrdered !== isKept;
    },
  ),

  // Lambda requires it, but the local stack does not.
  'a function of a stream can list streams, and has no other permission for all resources': eachMapping(
    ({ isStream, fn }, template) => {
      const onAll = statementsOf(template, idIn(fn.Role)).filter(({ Resource }) => Resource === '*');
      return !isStream || String(onAll.flatMap(actionsOf)) === 'dynamodb:ListStreams';
    },
  ),

  'a resource that loses data when it is deleted is retained, except by a failed first deployment, or the settings allow the loss':
    (template) => {
      const isDisposable = resourcesOf(template, 'AWS::DynamoDB::Table').some(
        ([, { DeletionPolicy }]) => DeletionPolicy === 'Delete',
      );
      // The table has deletion protection, so CloudFormation cannot delete it after a failed creation.
      const kept = (policy: string) => (properties: { DeletionPolicy?: string }) =>
        isDisposable || properties.DeletionPolicy === policy;
      return [
        each('AWS::DynamoDB::Table', kept('Retain'))(template),
        ...['AWS::S3::Bucket', 'AWS::KMS::Key'].map((type) => each(type, kept('RetainExceptOnCreate'))(template)),
      ].flat();
    },

  'access to items of the table is limited to kinds of items, and no function can scan it': eachStatement(
    (statement, template) => {
      const tables = [...resourcesOf(template, 'AWS::DynamoDB::Table').map(([id]) => id), ':table/'];
      const resources = [statement.Resource].flat().map((one) => JSON.stringify(one));
      const isOnItems = resources.some(
        (text) => tables.some((one) => text.includes(one)) && !/\/index\/|[Ss]tream/.test(text),
      );
      if (!isOnItems || !actionsOf(statement).some((action) => action.startsWith('dynamodb:'))) return true;
      if (actionsOf(statement).includes('dynamodb:Scan')) return false;
      const kinds = [statement.Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? ''].flat();
      return kinds.every((kind) => /^[A-Z]+#\*$/.test(String(kind)));
    },
  ),

  'a role can pass a role only to schedules': eachStatement(
    (statement) =>
      !actionsOf(statement).includes('iam:PassRole') ||
      statement.Condition?.StringEquals?.['iam:PassedToService'] === 'scheduler.amazonaws.com',
  ),

  'the inline policies of a role fit into its 10,240 characters': each(
    'AWS::IAM::Policy',
    ({ PolicyDocument }) => JSON.stringify(PolicyDocument).length < 8000,
  ),

  'a service can assume a role, or invoke a function, only for this account and resource': (template) => [
    ...each(
      'AWS::IAM::Role',
      ({ AssumeRolePolicyDocument }) =>
        // These services assume only the roles of their functions and APIs.
        /lambda|apigateway/.test(JSON.stringify(AssumeRolePolicyDocument.Statement[0].Principal)) ||
        JSON.stringify(AssumeRolePolicyDocument.Statement[0].Condition) ===
          '{"StringEquals":{"aws:SourceAccount":{"Ref":"AWS::AccountId"},"aws:SourceArn":{"Fn::GetAtt":["RetrySchedules","Arn"]}}}',
    )(template),
    ...each('AWS::Lambda::Permission', ({ SourceArn }) => SourceArn !== undefined)(template),
  ],
};
