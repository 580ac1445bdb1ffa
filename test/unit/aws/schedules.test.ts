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
  await schedules(runtimeWith(send, { variables })).sendAt(1500, 'name', { body: {}, group: 'whk' });
  expect(sent[0]).toMatchObject({
    ScheduleExpression: 'at(1970-01-01T00:00:02)',
    ActionAfterCompletion: 'DELETE', // otherwise completed schedules fill the quota
    Target: { Arn: `arn:${partition}:scheduler:::aws-sdk:sqs:sendMessage`, RoleArn: roleArn },
  });
});
