import { Duration } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { FAN_OUTS_OF_SHARD } from '../lib/deliveries/fan-out.ts';
import { LANES, type Lane } from '../lib/deliveries/lanes.ts';
import { BY_STATUS, LANE_QUEUES, type Variable } from '../lib/deployment.ts';
import { BundledFunction, type ConsumeOptions, consumeQueue } from './bundled-function.ts';
import type { DataTable } from './data.ts';
import type { Egress } from './egress.ts';
import { FailedEvents } from './failed-events.ts';
import { createQueue, grantSend } from './queues.ts';
import { Schedules } from './schedules.ts';
import type { Sender } from './sender.ts';

export interface DeliveryProps {
  table: DataTable;
  sender: Sender;
  dashboardUrl: string;
  egress: Egress | undefined;
  deliverConcurrency: number;
  batchingSeconds: number;
}

/** The queue of a lane and the function that delivers its messages. */
export interface DeliveryLane {
  queue: Queue;
  deliver: BundledFunction;
}

type Batches = Omit<ConsumeOptions, 'maxConcurrency'>;

/** Batches that are later and cheaper. Lambda requires a batching window for more than ten messages (Lambda Developer Guide). */
const gathered = (batchingSeconds: number): Batches =>
  batchingSeconds > 0 ? { batchSize: 100, maxBatchingWindow: Duration.seconds(batchingSeconds) } : {};

/** The path of an event to its webhooks: fan-out, queues, schedules, the deliver functions, and storage for failed work. */
export class Delivery extends Construct {
  readonly deadLetters: Queue;
  readonly failedEvents: FailedEvents;
  readonly failedSchedules: Queue;
  readonly fanOut: BundledFunction;
  readonly fanOutMapping: EventSourceMapping;
  readonly lanes: Record<Lane, DeliveryLane>;
  private readonly queues: Record<Lane, Queue>;

  constructor(scope: Construct, id: string, props: DeliveryProps) {
    super(scope, id);
    this.deadLetters = createQueue(this, 'DeadLetters');
    this.failedEvents = new FailedEvents(this, 'FailedEvents');
    this.queues = {
      quick: createQueue(this, 'Deliveries', this.deadLetters),
      new: createQueue(this, 'NewDeliveries', this.deadLetters),
      slow: createQueue(this, 'SlowDeliveries', this.deadLetters),
    };
    this.fanOut = this.createFanOut(props);
    this.fanOutMapping = this.feedFanOut(props);
    const schedules = new Schedules(this, 'Schedules', this.queues.quick);
    this.failedSchedules = schedules.failures;
    const batches = gathered(props.batchingSeconds);
    this.lanes = {
      quick: this.createLane('Deliver', 'quick', props, schedules, batches),
      new: this.createLane('DeliverNew', 'new', props, schedules, batches),
      // Each batch waits for its slowest endpoint, so larger batches occupy fewer functions.
      slow: this.createLane('DeliverSlow', 'slow', props, schedules, {
        batchSize: 100,
        maxBatchingWindow: Duration.seconds(1),
      }),
    };
    props.table.grantIndex(this.lanes.quick.deliver, BY_STATUS); // reads pages of a recovery
  }

  /** Allows a function to enqueue deliveries. */
  grantEnqueue(fn: BundledFunction): void {
    fn.addEnvironment(LANE_QUEUES.quick, this.queues.quick.queueUrl);
    grantSend(this.queues.quick, fn);
  }

  private get laneVariables(): Partial<Record<Variable, string>> {
    return Object.fromEntries(LANES.map((lane) => [LANE_QUEUES[lane], this.queues[lane].queueUrl]));
  }

  private createFanOut({ table }: DeliveryProps): BundledFunction {
    const fanOut = new BundledFunction(this, 'FanOut', {
      name: 'fan-out',
      description: 'Sends every new event to the queue, once for each subscribed webhook',
      environment: this.laneVariables,
      timeout: Duration.minutes(1),
    });
    table.grant(fanOut, { HOOKS: ['query'], HOOK: ['update'] });
    for (const queue of Object.values(this.queues)) grantSend(queue, fanOut);
    this.failedEvents.grantSetAside(fanOut);
    return fanOut;
  }

  private feedFanOut({ table, batchingSeconds }: DeliveryProps): EventSourceMapping {
    return table.feed(this.fanOut, {
      id: 'Events',
      kind: 'EVENT',
      changes: ['INSERT'],
      ...gathered(batchingSeconds),
      batchSize: 100,
      parallelizationFactor: FAN_OUTS_OF_SHARD,
      // Only outages are retried, because the function sets other failures aside.
      bisectBatchOnError: true,
      maxRecordAge: Duration.hours(12),
      reportBatchItemFailures: true,
      onFailure: this.failedEvents.destinationOf(this.fanOut),
    });
  }

  private createLane(
    id: string,
    lane: Lane,
    { table, sender, dashboardUrl, egress, deliverConcurrency }: DeliveryProps,
    schedules: Schedules,
    batches: Batches,
  ): DeliveryLane {
    const deliver = new BundledFunction(this, id, {
      name: 'deliver',
      description: `Sends signed deliveries and schedules their retries (${lane} lane)`,
      environment: { LANE: lane, ...this.laneVariables, ...schedules.variables, DASHBOARD_URL: dashboardUrl },
      timeout: Duration.seconds(30),
      egress,
      feedsItself: true, // a run has at most six attempts, and a recovery ends with its window
    });
    const queue = this.queues[lane];
    consumeQueue(deliver, queue, { maxConcurrency: deliverConcurrency, ...batches });
    // The function connects to untrusted hosts, so it cannot read API keys, and changes only webhooks, deliveries and the budget of
    // emails. FanOut and StatsCount read the whole stream, which contains keys with their token secrets, but neither connects to other hosts.
    table.grant(deliver, {
      PROJECT: ['get', 'batch get'],
      EMAILS: ['get', 'put'],
      SLOTS: ['get', 'update'],
      HOOKS: ['batch get', 'update'],
      EVENT: ['batch get'],
      HOOK: ['batch get', 'update'],
      AUDIT: ['put'],
    });
    schedules.grantSchedule(deliver);
    sender.grant(deliver);
    this.grantHandOn(deliver, lane);
    return { queue, deliver };
  }

  /** Retries stay in their lane, and messages for a slower lane are forwarded. */
  private grantHandOn(grantee: IGrantable, lane: Lane): void {
    for (const slower of LANES.slice(LANES.indexOf(lane))) grantSend(this.queues[slower], grantee);
  }
}
