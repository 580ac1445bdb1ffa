import { email } from '../lib/aws/email.ts';
import { environment, newVariable } from '../lib/aws/environment.ts';
import { log } from '../lib/aws/log.ts';
import { queue } from '../lib/aws/queue.ts';
import { reportFailure } from '../lib/aws/report-failure.ts';
import { system } from '../lib/aws/system.ts';
import { createTable } from '../lib/aws/table.ts';
import { deliveryQueue } from '../lib/deliveries/queue-store.ts';
import { LANE_QUEUES } from '../lib/deployment.ts';
import type { CheckMessage } from '../lib/documents/connections.ts';
import type { DeliveryQueue, Platform } from './wiring.ts';

/*
 * The parts of the platform on AWS. Each entry calls only the functions that it needs, so that its bundle contains no unused
 * clients and its function needs no unused environment variables.
 */

export const aws = (): Platform => ({ table: createTable(environment('TABLE_NAME')), log, reportFailure, ...system });

export const withEmail = () => ({
  sendEmail: email({ sender: environment('SENDER_EMAIL'), configurationSet: newVariable('CONFIGURATION_SET') }).send,
});

export function withQueues() {
  const of = (lane: keyof typeof LANE_QUEUES): DeliveryQueue => deliveryQueue(environment(LANE_QUEUES[lane]));
  return { queues: { quick: of('quick'), new: of('new'), slow: of('slow') } };
}

/** The queue that takes redeliveries, recoveries and tests. */
export const withQueue = () => ({ queue: deliveryQueue(environment(LANE_QUEUES.quick)) });

export function withChecks() {
  const { send } = queue(environment('CHECKS_QUEUE_URL'));
  return { scheduleCheck: (body: CheckMessage, delaySeconds: number) => send({ body, delaySeconds }) };
}
