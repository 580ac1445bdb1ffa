import { expect, it } from 'vitest';
import { schedules } from '../../../lib/aws/schedules.ts';
import { runtimeWith, VARIABLES } from '../../support/runtime.ts';

it.each(['aws', 'aws-cn', 'aws-us-gov'])('sends the message in the partition of its role: %s', async (partition) => {
  const sent: object[] = [];
  const roleArn = `arn:${partition}:iam::111122223333:role/schedules`;
  const variables = { ...VARIABLES, SCHEDULE_ROLE_ARN: roleArn };
  const send = async ({ input }: { input: object }) => {
    sent.push(input);
    return {};
  };
  const message = { body: { webhookId: 'whk' }, group: 'group of prj' };
  await schedules(runtimeWith(send, { variables })).sendAt(1500, 'name', message);
  const Input = {
    QueueUrl: VARIABLES.DELIVERIES_QUEUE_URL,
    MessageBody: '{"webhookId":"whk"}',
    MessageGroupId: 'group of prj', // the fair queue does not let one project delay others
  };
  expect(sent).toEqual([
    {
      Name: 'name',
      GroupName: VARIABLES.SCHEDULE_GROUP,
      ScheduleExpression: 'at(1970-01-01T00:00:02)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'DELETE', // otherwise completed schedules fill the quota
      Target: {
        Arn: `arn:${partition}:scheduler:::aws-sdk:sqs:sendMessage`,
        RoleArn: roleArn,
        Input: JSON.stringify(Input),
        DeadLetterConfig: { Arn: VARIABLES.SCHEDULE_DLQ_ARN },
        RetryPolicy: { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 86_400 },
      },
    },
  ]);
});
