import { ConflictException, CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { sendMessageTarget } from '../deployment.ts';
import { createClient } from './client.ts';
import { domainError } from './domain-errors.ts';

export interface ScheduleSettings {
  group: string;
  roleArn: string;
  queueUrl: string;
  deadLetterArn: string;
}

/**
 * One-shot schedules that send a message to a queue and delete themselves. A schedule fires within 60 seconds after its
 * time, at least once (EventBridge Scheduler User Guide).
 */
export function schedules(
  { group, roleArn, queueUrl, deadLetterArn }: ScheduleSettings,
  client = createClient(SchedulerClient),
) {
  const [, partition = 'aws'] = roleArn.split(':');
  return {
    /** `name` identifies the message, so scheduling it again has no effect. */
    async sendAt(atMs: number, name: string, message: { body: unknown; group: string }): Promise<void> {
      const second = new Date(Math.ceil(atMs / 1000) * 1000).toISOString().slice(0, 19);
      const send = { QueueUrl: queueUrl, MessageBody: JSON.stringify(message.body), MessageGroupId: message.group };
      const command = new CreateScheduleCommand({
        Name: name,
        GroupName: group,
        ScheduleExpression: `at(${second})`,
        FlexibleTimeWindow: { Mode: 'OFF' },
        ActionAfterCompletion: 'DELETE',
        Target: {
          Arn: sendMessageTarget(partition),
          RoleArn: roleArn,
          Input: JSON.stringify(send),
          DeadLetterConfig: { Arn: deadLetterArn },
          RetryPolicy: { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 86_400 },
        },
      });
      await client.send(command).catch((error: unknown) => {
        if (!(error instanceof ConflictException)) throw domainError(error);
      });
    },
  };
}
