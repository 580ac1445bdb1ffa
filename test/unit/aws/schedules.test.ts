import type { CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { expect, it } from 'vitest';
import { schedules } from '../../../lib/aws/schedules.ts';

it.each(['aws', 'aws-cn', 'aws-us-gov'])('sends the message in the partition of its role: %s', async (partition) => {
  const sent: CreateScheduleCommand[] = [];
  const client = { send: async (command: CreateScheduleCommand) => sent.push(command) } as unknown as SchedulerClient;
  const roleArn = `arn:${partition}:iam::111122223333:role/schedules`;
  const settings = { group: 'g', roleArn, queueUrl: 'https://queue', deadLetterArn: 'arn' };
  await schedules(settings, client).sendAt(1500, 'name', { body: {}, group: 'whk' });
  expect(sent[0]?.input).toMatchObject({
    ScheduleExpression: 'at(1970-01-01T00:00:02)',
    ActionAfterCompletion: 'DELETE', // otherwise completed schedules fill the quota
    Target: { Arn: `arn:${partition}:scheduler:::aws-sdk:sqs:sendMessage`, RoleArn: roleArn },
  });
});
