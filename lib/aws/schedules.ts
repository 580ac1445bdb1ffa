import { ConflictException, CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { LANE_QUEUES, sendMessageTarget } from '../deployment.ts';
import { domainError } from './domain-errors.ts';
import { clientOnDemand, type Runtime, variable } from './runtime.ts';

/**
 * One-shot schedules that send a message to the quick queue and delete themselves. A schedule fires within 60 seconds after its
 * time, at least once (EventBridge Scheduler User Guide).
 */
export function schedules(runtime: Pick<Runtime, 'variables' | 'client'>) {
  const client = clientOnDemand(runtime, SchedulerClient);
  const group = variable(runtime, 'SCHEDULE_GROUP');
  const roleArn = variable(runtime, 'SCHEDULE_ROLE_ARN');
  const deadLetterArn = variable(runtime, 'SCHEDULE_DLQ_ARN');
  const queueUrl = variable(runtime, LANE_QUEUES.quick);
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
      await client()
        .send(command)
        .catch((error: unknown) => {
          if (!(error instanceof ConflictException)) throw domainError(error);
        });
    },
  };
}
