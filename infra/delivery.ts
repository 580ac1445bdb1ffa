import { Duration } from 'aws-cdk-lib';
import type { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { FAN_OUTS_OF_SHARD } from '../lib/deliveries/fan-out.ts';
import { LANES, type Lane } from '../lib/deliveries/lanes.ts';
import { BY_STATUS, LANE_QUEUES } from '../lib/deployment.ts';
import { BundledFunction } from './bundled-function.ts';
import type { DataTable } from './data.ts';
import type { Egress } from './egress.ts';
import { FailedEvents } from './failed-events.ts';
import { type Batches, consumeQueue, createQueue, grantSend } from './queues.ts';
import { Schedules } from './schedules.ts';
import type { Sender } from './sender.ts';
import type { Settings } from './settings.ts';

export interface DeliveryProps {
  settings: Settings;
  table: DataTable;
  sender: Sender;
  baseUrl: string;
  egress: Egress | undefined;
}

/** Batches that are later and cheaper. */
const gathered = (batchingSeconds: number): Batches =>
  batchingSeconds > 0 ? { batchSize: 100, maxBatchingWindow: Duration.seconds(batchingSeconds) } : {};

/** Each batch waits for its slowest endpoint, so larger batches occupy fewer functions. */
const SLOW_BATCHES: Batches = { batchSize: 100, maxBatchingWindow: Duration.seconds(1) };

/** The path of an event to its webhooks: fan-out, queues, schedules, the deliver functions, and storage for failed work. */
export class Delivery extends Construct {
  readonly deadLetters: Queue;
  readonly failedEvents: FailedEvents;
  readonly schedules: Schedules;
  readonly fanOut: BundledFunction;
  readonly fanOutMapping: EventSourceMapping;
  readonly queues: Record<Lane, Queue>;
  /** The functions that deliver the messages of the queues. */
  readonly deliver: Record<Lane, BundledFunction>;

  constructor(scope: Construct, id: string, props: DeliveryProps) {
    super(scope, id);
    const { table, settings } = props;
    this.deadLetters = createQueue(this, 'DeadLetters');
    this.failedEvents = new FailedEvents(this, 'FailedEvents');
    this.queues = {
      quick: createQueue(this, 'Deliveries', this.deadLetters),
      new: createQueue(this, 'NewDeliveries', this.deadLetters),
      slow: createQueue(this, 'SlowDeliveries', this.deadLetters),
    };
    this.fanOut = new BundledFunction(this, 'FanOut', {
      name: 'fan-out',
      description: 'Sends every new event to the queue, once for each subscribed webhook',
      environment: { DELIVERIES_PER_SECOND: String(settings.throttles.deliveriesPerSecond) },
      timeout: Duration.minutes(1),
    });
    table.grant(this.fanOut, { HOOKS: ['query'], HOOK: ['update'], PROJECT: ['update'] });
    for (const lane of LANES) this.grantEnqueue(this.fanOut, lane);
    const batches = gathered(settings.batchingSeconds);
    this.fanOutMapping = table.feed(this.fanOut, {
      kind: 'EVENT',
      changes: ['INSERT'],
      ...batches,
      batchSize: 100,
      parallelizationFactor: FAN_OUTS_OF_SHARD,
      // Only outages are retried, because the function sets other failures aside.
      bisectBatchOnError: true,
      maxRecordAge: Duration.hours(12),
      reportBatchItemFailures: true,
      onFailure: this.failedEvents.destinationOf(this.fanOut),
    });
    this.schedules = new Schedules(this, 'Schedules', this.queues.quick);
    this.deliver = {
      quick: this.createDeliver('Deliver', 'quick', props, batches),
      new: this.createDeliver('DeliverNew', 'new', props, batches),
      slow: this.createDeliver('DeliverSlow', 'slow', props, SLOW_BATCHES),
    };
    table.grantIndex(this.deliver.quick, BY_STATUS); // reads pages of a recovery
  }

  /** Allows a function to enqueue deliveries in a lane. */
  grantEnqueue(fn: BundledFunction, lane: Lane): void {
    grantSend(this.queues[lane], fn, LANE_QUEUES[lane]);
  }

  private createDeliver(id: string, lane: Lane, props: DeliveryProps, batches: Batches): BundledFunction {
    const { settings, table, sender, baseUrl, egress } = props;
    const queueUrls = Object.fromEntries(LANES.map((each) => [LANE_QUEUES[each], this.queues[each].queueUrl]));
    const deliver = new BundledFunction(this, id, {
      name: 'deliver',
      description: `Sends signed deliveries and schedules their retries (${lane} lane)`,
      // Only the previous release reads DASHBOARD_URL.
      environment: { LANE: lane, ...queueUrls, BASE_URL: baseUrl, DASHBOARD_URL: `${baseUrl}/dashboard` },
      timeout: Duration.seconds(30),
      egress,
      feedsItself: true, // a run has at most six attempts, and a recovery starts each delivery of its window once
    });
    consumeQueue(this.queues[lane], deliver, { maxConcurrency: settings.deliverConcurrency, ...batches });
    // The function connects to untrusted hosts, so it cannot read API keys, and changes only webhooks, deliveries and the budget of
    // emails. FanOut and StatsCount read the whole stream, which contains keys with their token secrets, but neither connects to
    // other hosts.
    table.grant(deliver, {
      PROJECT: ['get', 'batch get'],
      EMAILS: ['get', 'put'],
      SLOTS: ['get', 'update'],
      HOOKS: ['batch get', 'update'],
      EVENT: ['batch get'],
      HOOK: ['batch get', 'update'],
      FIGURES: ['query'], // the number of events in an email
      AUDIT: ['put'],
      ...(lane === 'quick' && { RECOVERY: ['batch get', 'update'] }),
    });
    this.schedules.grantSchedule(deliver);
    sender.grant(deliver);
    // Retries stay in their lane, and messages for a slower lane are forwarded.
    for (const slower of LANES.slice(LANES.indexOf(lane))) this.grantEnqueue(deliver, slower);
    return deliver;
  }
}
