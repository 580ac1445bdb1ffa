import { PRICES } from './prices.ts';
import type { Usage } from './usage.ts';

const GB = 1e9;

/** Returns the cost of a usage in US dollars, with one line per billed item. */
export function billOf(usage: Usage): Record<string, number> {
  return {
    'API Gateway': usage.apiRequests * PRICES.apiRequest,
    Lambda: usage.invocations * PRICES.lambdaRequest + usage.gbSeconds * PRICES.lambdaGbSecond,
    DynamoDB: usage.writeUnits * PRICES.writeUnit + usage.readUnits * PRICES.readUnit,
    'stored for 30 days': (usage.storedBytes / GB) * (PRICES.storedGb + PRICES.backedUpGb),
    SQS: usage.sqsRequests * PRICES.sqsRequest,
    Scheduler: usage.schedules * PRICES.schedule,
    SES: usage.emails * PRICES.email,
    Logs: (usage.logBytes / GB) * PRICES.logGb,
    'Data out': (usage.outBytes / GB) * PRICES.outGb,
  };
}

export const sum = (bill: Record<string, number>): number =>
  Object.values(bill).reduce((total, line) => total + line, 0);

/**
 * The long polls of an idle queue, with five pollers of 20 s each (Lambda Developer Guide, "Configuring scaling behavior for
 * SQS").
 */
const IDLE_POLLS_A_MONTH = (5 * 30 * 24 * 60 * 60) / 20;

export interface Fixed {
  /** The custom metrics. */
  metrics: number;
  alarmMetrics: number;
  /** Event source mappings with `EventCount` metrics. Without events, each has one metric for polls. */
  countedMappings: number;
  dashboards: number;
  polledQueues: number;
}

/** Returns the cost of an idle month in US dollars, with one line per billed item. */
export function idleBillOf({
  metrics,
  alarmMetrics,
  countedMappings,
  dashboards,
  polledQueues,
}: Fixed): Record<string, number> {
  return {
    metrics: metrics * PRICES.metric,
    'metrics of mappings': countedMappings * PRICES.metric,
    alarms: alarmMetrics * PRICES.alarmMetric,
    dashboards: dashboards * PRICES.dashboard,
    'polls of idle queues': polledQueues * IDLE_POLLS_A_MONTH * PRICES.sqsRequest,
  };
}
