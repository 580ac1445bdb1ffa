import { Aws } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';

/** The topic that sends alarms: one of the stack that emails them, or a topic of the operator. */
export function createAlarmTopic(scope: Construct, receiver: NonNullable<Settings['alarms']>): ITopic {
  if ('topicArn' in receiver) return Topic.fromTopicArn(scope, 'Receiver', receiver.topicArn);
  const topic = new Topic(scope, 'Alarms', { enforceSSL: true });
  pinLogicalId(topic, 'AlarmTopic');
  pinLogicalId(topic.addSubscription(new EmailSubscription(receiver.email)), 'AlarmEmail');
  // A custom policy replaces the default policy that allows services of the account to publish (SNS Developer Guide).
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
  return topic;
}
