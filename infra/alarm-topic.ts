import { Aws } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { pinLogicalId } from './logical-ids.ts';

/** Creates the topic that emails alarms, or none without an address. */
export function createAlarmTopic(scope: Construct, email: string): Topic | undefined {
  if (email === '') return undefined;
  const topic = new Topic(scope, 'Alarms', { enforceSSL: true });
  pinLogicalId(topic, 'AlarmTopic');
  pinLogicalId(topic.addSubscription(new EmailSubscription(email)), 'AlarmEmail');
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
