import { withReferences } from '../../../infra/resources.ts';

/**
 * Properties whose change makes CloudFormation replace a resource (the `createOnlyProperties` of its resource schema). DynamoDB cannot
 * change an index or an enabled stream, so an update of them fails, or begins a new stream without the unread records. For a policy,
 * these are the resources that it belongs to. With another logical id, CloudFormation creates the new policy before it removes the old
 * one, so the resource can end up without a policy.
 */
const CREATE_ONLY: Record<string, readonly string[]> = {
  'AWS::DynamoDB::Table': [
    'TableName',
    'ImportSourceSpecification',
    'KeySchema',
    'GlobalSecondaryIndexes',
    'StreamSpecification',
  ],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::SQS::QueuePolicy': ['Queues'],
  'AWS::S3::Bucket': ['BucketName', 'BucketNamePrefix', 'BucketNamespace'],
  'AWS::S3::BucketPolicy': ['Bucket'],
  'AWS::KMS::Key': [],
  'AWS::EC2::EIP': ['NetworkBorderGroup', 'TransferAddress'],
  'AWS::IAM::Role': ['Path', 'RoleName'],
  'AWS::Scheduler::ScheduleGroup': ['Name'],
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::Stage': ['RestApiId', 'StageName'],
  'AWS::ApiGateway::UsagePlan': [],
  'AWS::ApiGateway::UsagePlanKey': ['KeyId', 'UsagePlanId', 'KeyType'],
  'AWS::ApiGateway::ApiKey': ['GenerateDistinctId', 'Name', 'Value'],
  'AWS::ApiGateway::DomainName': ['DomainName'],
  'AWS::ApiGateway::BasePathMapping': ['DomainName', 'BasePath'],
  'AWS::Lambda::EventSourceMapping': ['EventSourceArn', 'StartingPosition', 'StartingPositionTimestamp'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::SNS::Topic': ['TopicName', 'FifoTopic'],
  'AWS::SNS::TopicPolicy': ['Topics'],
  'AWS::SNS::Subscription': ['Endpoint', 'Protocol', 'TopicArn'],
};

type Resources = Record<string, { Type: string; Properties?: Record<string, unknown> }>;

/** CloudFormation replaces a role of a function together with the function, but a pending schedule keeps its role. */
const isReplaceable = (Type: string, { AssumeRolePolicyDocument }: Record<string, unknown>): boolean =>
  Type === 'AWS::IAM::Role' && !JSON.stringify(AssumeRolePolicyDocument).includes('scheduler.amazonaws.com');

/** Maps the logical ids of resources that an upgrade must keep to their types and the properties that cannot change in place. */
export function keptResources(resources: Resources): Record<string, object> {
  const kept = Object.entries(resources).flatMap(([id, { Type, Properties = {} }]) => {
    if (isReplaceable(Type, Properties)) return [];
    const fixed = CREATE_ONLY[Type]
      ?.filter((name) => name in Properties)
      .map((name) => [name, withReferences(Properties[name])]);
    return fixed ? [[id, { Type, ...Object.fromEntries(fixed) }]] : [];
  });
  return Object.fromEntries(kept.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}
