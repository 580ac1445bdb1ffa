import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { choices, synth } from './synth.ts';

/** Properties whose change makes CloudFormation replace a resource (the `createOnlyProperties` of its resource schema). */
const CREATE_ONLY: Record<string, readonly string[]> = {
  'AWS::DynamoDB::Table': ['TableName', 'ImportSourceSpecification', 'KeySchema'],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::S3::Bucket': ['BucketName', 'BucketNamePrefix', 'BucketNamespace'],
  'AWS::KMS::Key': [],
  'AWS::Scheduler::ScheduleGroup': ['Name'],
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::Stage': ['RestApiId', 'StageName'],
  'AWS::ApiGateway::UsagePlan': [],
  'AWS::ApiGateway::UsagePlanKey': ['KeyId', 'UsagePlanId', 'KeyType'],
  'AWS::ApiGateway::ApiKey': ['GenerateDistinctId', 'Name', 'Value'],
  'AWS::ApiGateway::DomainName': ['DomainName'],
  'AWS::ApiGateway::BasePathMapping': ['DomainName', 'BasePath'],
  'AWS::Route53::RecordSet': ['HostedZoneName', 'HostedZoneId', 'Name', 'Type'],
  'AWS::Lambda::EventSourceMapping': ['EventSourceArn', 'StartingPosition', 'StartingPositionTimestamp'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::SNS::Topic': ['TopicName', 'FifoTopic'],
  'AWS::SNS::Subscription': ['Endpoint', 'Protocol', 'TopicArn'],
};

const KEPT = 'test/infra/kept-resources.json';

const REPLACED = `An upgrade replaces or removes every resource that differs from ${KEPT}. A replaced table, queue, bucket, key or
schedule group is empty. A replaced API, stage or domain has another address. Callers get errors until a replaced usage plan key
works. CloudFormation cannot create an API key, a queue's event source or a DNS record again while the old one exists. Restore
the logical id (pinLogicalId) and the property. Change ${KEPT} only to add a resource.`;

/** Maps logical ids to types and the properties that cannot change in place, with every option enabled. */
function keptResources(): Record<string, object> {
  const settings = {
    ...choices.encryption?.[1],
    ...choices.domain?.[2],
    ...choices.limits?.[1],
    ...choices.names?.[1],
  };
  const resources: Record<string, { Type: string; Properties?: Record<string, unknown> }> =
    synth(settings).toJSON().Resources;
  const kept = Object.entries(resources).flatMap(([id, { Type, Properties = {} }]) => {
    const names = CREATE_ONLY[Type];
    if (!names) return [];
    const fixed = names.filter((name) => name in Properties).map((name) => [name, Properties[name]]);
    return [[id, { [Type]: Object.fromEntries(fixed) }]];
  });
  return Object.fromEntries(kept.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

describe('an upgrade', () => {
  it('keeps every resource with data, a position or an address', () => {
    const expected = JSON.parse(readFileSync(KEPT, 'utf8'));
    expect(keptResources(), REPLACED).toEqual(expected);
  });
});
