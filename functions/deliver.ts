import { addressPolicy, environment } from '../lib/aws/environment.ts';
import { httpPost } from '../lib/aws/http-post.ts';
import { schedules } from '../lib/aws/schedules.ts';
import { deliverConsumer, reportResult } from '../lib/deliveries/consumers.ts';
import type { Lane } from '../lib/deliveries/lanes.ts';
import { LANE_QUEUES } from '../lib/deployment.ts';
import { aws, withEmail, withQueues } from './platform.ts';
import { deliverDeps } from './wiring.ts';

const { sendAt } = schedules({
  group: environment('SCHEDULE_GROUP'),
  roleArn: environment('SCHEDULE_ROLE_ARN'),
  deadLetterArn: environment('SCHEDULE_DLQ_ARN'),
  queueUrl: environment(LANE_QUEUES.quick),
});

export const handler = deliverConsumer(
  deliverDeps({
    ...aws(),
    ...withEmail(),
    ...withQueues(),
    lane: environment('LANE') as Lane,
    dashboardUrl: environment('DASHBOARD_URL'),
    post: httpPost(addressPolicy()),
    schedule: (name, message, atMs) => sendAt(atMs, name, message),
    done: reportResult,
  }),
);
