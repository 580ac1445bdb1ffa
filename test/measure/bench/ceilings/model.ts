import { LOG_PARTITIONS } from '../../../../lib/deliveries/placement.ts';
import { FAN_OUTS_OF_SHARD } from '../../../../lib/delivery/fan-out.ts';
import { MAX_QUEUE_DELAY_SECONDS } from '../../../../lib/delivery/queue-retry.ts';
import { RETRY_DELAYS_SECONDS } from '../../../../lib/delivery/retry-schedule.ts';
import { EVENT_PARTITIONS, partitionsOf } from '../../../../lib/events/placement.ts';
import { EVENT_TYPES } from '../../../../lib/events/types.ts';
import { BATCH_MS, DELIVERY_CPU_MS, MESSAGE_CPU_MS } from '../cost/prices.ts';
import type { Load, UnitCosts } from './load.ts';
import { QUOTAS, type Quota } from './quotas.ts';

/** A limit, its use by a load, and how to raise it. */
export interface Ceiling {
  name: string;
  used: number;
  quota: Quota;
  lift: string;
}

/** The use from 0 to 1. At 1, deliveries are late, and requests return 429 or 503. No data is lost. */
export const utilization = ({ used, quota }: Ceiling): number => used / quota.limit;

/** The events per second of all projects that reach the limit, if all parts of the load grow equally. */
export const breaksAt = (ceiling: Ceiling, { events }: Load): number => events / utilization(ceiling);

/** Returns every limit, sorted by the rate that reaches it. */
export function ceilingsOf(load: Load, costs: UnitCosts): Ceiling[] {
  return [...ofProject(load, costs), ...ofAll(load, costs)].sort((a, b) => utilization(b) - utilization(a));
}

/** The duration of a function in milliseconds, without the endpoint (test/measure/bench/cost/prices.ts). */
const REQUEST_MS = 12 + 15;
const FAN_OUT_MS = 25;
const WEBHOOK_KB = 0.6;
/** The size of a revision with a key of 30 bytes. */
const REVISION_KB = 0.09;
/** The stats add up half a minute of changes for each shard of the stream, by hour and by day. */
const STATS_SECONDS = 30;
const STATS_WRITES = 2;
/** A page of events queries every partition of a space, eventually consistent. */
const EVENT_LIST_READS = partitionsOf(EVENT_TYPES, undefined).length / 2;
/** A transaction doubles the write units. */
const TRANSACTION = 2;

/** The failed attempts per delivery: one, or all if the retries fail too. */
const failuresOf = ({ failing, lasting }: Load): number => failing * (1 + lasting * RETRY_DELAYS_SECONDS.length);

/** The batches of deliveries per second, including retries. */
const batchesOf = (load: Load, events: number): number =>
  (events * (1 + failuresOf(load)) * load.webhooks) / load.deliveriesOfBatch;

const unitsOf = (kb: number, kbOfUnit: number): number => Math.ceil(kb / kbOfUnit);

/** The limits of one project: its table partitions, whose limits are fixed, and its share of the API. */
function ofProject(load: Load, costs: UnitCosts): Ceiling[] {
  const { projectEvents, webhooks, documentWrites, documentKb, keyRequests } = load;
  const failures = projectEvents * failuresOf(load);
  const attempts = projectEvents + failures;
  const webhookReads = webhookReadsOf(load, costs, projectEvents);
  const requests = projectEvents / load.published + keyRequests;
  const log = projectEvents * costs.logWrites + failures * costs.failedLogWrites;
  return [
    writes('delivery log of a webhook', log / LOG_PARTITIONS, 'more LOG_PARTITIONS'),
    writes(
      'undelivered ones of a webhook',
      (failures * costs.failedIndexWrites) / LOG_PARTITIONS,
      'more LOG_PARTITIONS',
    ),
    writes('events of one type', (projectEvents * costs.eventWrites) / EVENT_PARTITIONS, 'more EVENT_PARTITIONS'),
    reads('events of one type', (attempts * webhooks * costs.eventReads) / EVENT_PARTITIONS, 'more EVENT_PARTITIONS'),
    reads('webhooks of a project', webhookReads, SPLIT),
    reads('one webhook', webhookReads / webhooks, 'larger batches: batchingSeconds'),
    writes('documents of a project', documentWrites * TRANSACTION * unitsOf(documentKb, 1), SPLIT),
    writes('revisions of a project', documentWrites * TRANSACTION, SPLIT),
    reads('revisions of a project', load.syncCycles * unitsOf(load.syncedDocuments * REVISION_KB, 4), SPLIT),
    reads('one key', keyRequests * costs.keyReads, 'several keys, or authorizerCacheSeconds'),
    reads(
      'one project',
      (requests + batchesOf(load, projectEvents)) * costs.projectReads,
      'batches of events, or authorizerCacheSeconds',
    ),
    writes('stats of a webhook', (shardsOf(load, costs) * STATS_WRITES) / STATS_SECONDS, 'a longer window'),
    {
      name: 'requests: throttle of a project',
      used: requests,
      quota: QUOTAS.projectThrottleRate,
      lift: 'projectThrottleRate',
    },
  ];
}

const SPLIT = 'DynamoDB splits it within minutes, item by item if need be';

const writes = (of: string, used: number, lift: string): Ceiling => ({
  name: `writes: ${of}`,
  used,
  quota: QUOTAS.partitionWrites,
  lift,
});

const reads = (of: string, used: number, lift: string): Ceiling => ({
  name: `reads: ${of}`,
  used,
  quota: QUOTAS.partitionReads,
  lift,
});

/** Every batch of deliveries reads its webhooks, and every fan-out reads all webhooks. */
function webhookReadsOf(load: Load, costs: UnitCosts, events: number): number {
  const { webhooks, deliveriesOfBatch } = load;
  const webhooksOfBatch = webhooks * (1 - (1 - 1 / webhooks) ** deliveriesOfBatch);
  const fanOuts = Math.min(events * costs.fanOuts, fanOutsMax(load, costs));
  return batchesOf(load, events) * webhooksOfBatch + fanOuts * unitsOf(webhooks * WEBHOOK_KB, 4);
}

/** A shard has a limited number of concurrent batches, and waiting records fill the next one. */
const fanOutsMax = (load: Load, costs: UnitCosts): number =>
  (shardsOf(load, costs) * FAN_OUTS_OF_SHARD * 1000) / FAN_OUT_MS;

const shardsOf = (load: Load, costs: UnitCosts): number =>
  Math.ceil(tableWritesOf(load, costs) / QUOTAS.partitionWrites.limit);

/** The quotas of the account and of the table, and the settings of the stack. */
function ofAll(load: Load, costs: UnitCosts): Ceiling[] {
  const deliveries = load.events * load.webhooks;
  const attempts = deliveries * (1 + failuresOf(load));
  const published = load.events / load.published;
  const requests = published + load.requests + load.connections / load.renewedEverySeconds;
  const deliverSeconds = (load.endpointMs + BATCH_MS + load.deliveriesOfBatch * DELIVERY_CPU_MS) / 1000;
  const batches = batchesOf(load, load.events);
  const batchesAtOnce = batches * deliverSeconds;
  const fanOutMs = load.events * costs.fanOuts * FAN_OUT_MS + deliveries * MESSAGE_CPU_MS;
  const requestSeconds = (requests * REQUEST_MS + fanOutMs) / 1000;
  const tableWrites = tableWritesOf(load, costs);
  const tableReads =
    requests * (costs.keyReads + costs.projectReads) +
    batches * costs.projectReads +
    attempts * (costs.eventReads + costs.logReads) +
    load.eventLists * EVENT_LIST_READS +
    webhookReadsOf(load, costs, load.events);
  const late = deliveries * load.failing * load.lasting;
  const ask = 'Service Quotas';
  return [
    { name: 'requests: throttle of one method', used: published, quota: QUOTAS.throttleRate, lift: 'throttleRate' },
    { name: 'requests: API Gateway', used: requests, quota: QUOTAS.gatewayRequests, lift: ask },
    {
      name: 'Lambda: all executions',
      used: requestSeconds + batchesAtOnce,
      quota: QUOTAS.lambdaConcurrency,
      lift: ask,
    },
    { name: 'Lambda: a lane', used: batchesAtOnce, quota: QUOTAS.deliverConcurrency, lift: 'deliverConcurrency' },
    { name: 'Lambda: a queue', used: batchesAtOnce, quota: QUOTAS.mappingConcurrency, lift: 'more memory' },
    {
      name: 'SQS: in flight',
      used: attempts * deliverSeconds,
      quota: QUOTAS.messagesInFlight,
      lift: 'faster endpoints, more memory',
    },
    { name: 'writes: new table', used: tableWrites, quota: QUOTAS.newTableWrites, lift: 'warmWritesPerSecond' },
    { name: 'reads: new table', used: tableReads, quota: QUOTAS.newTableReads, lift: 'warmWritesPerSecond' },
    { name: 'writes: table', used: tableWrites, quota: QUOTAS.tableWrites, lift: ask },
    { name: 'reads: table', used: tableReads, quota: QUOTAS.tableReads, lift: ask },
    { name: 'schedules: waiting', used: late * SCHEDULED_SECONDS, quota: QUOTAS.schedules, lift: ask },
    { name: 'schedules: created', used: late * SCHEDULED.length, quota: QUOTAS.createSchedule, lift: ask },
    { name: 'schedules: due', used: late * SCHEDULED.length, quota: QUOTAS.scheduleInvocations, lift: ask },
    { name: 'emails', used: load.outages * EMAILS_OF_OUTAGE, quota: QUOTAS.emails, lift: 'SES sending quota' },
  ];
}

/** The retries whose delay exceeds the queue limit. Each needs a schedule. */
const SCHEDULED = RETRY_DELAYS_SECONDS.filter((seconds) => seconds > MAX_QUEUE_DELAY_SECONDS);
const SCHEDULED_SECONDS = SCHEDULED.reduce((total, seconds) => total + seconds, 0);
const EMAILS_OF_OUTAGE = 2;

function tableWritesOf(load: Load, costs: UnitCosts): number {
  const { events, webhooks, connections, renewedEverySeconds, documentWrites, documentKb } = load;
  const failed = failuresOf(load) * (costs.failedLogWrites + costs.failedIndexWrites);
  const documents = documentWrites * TRANSACTION * (unitsOf(documentKb, 1) + 1);
  return (
    events * (costs.eventWrites + webhooks * (costs.logWrites + failed)) + documents + connections / renewedEverySeconds
  );
}
