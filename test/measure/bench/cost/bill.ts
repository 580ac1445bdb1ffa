import type { Template } from '../../../../infra/local/template.ts';
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

/** Returns the cost of an idle month in US dollars, with one line per billed item. Without events, the functions write no custom metrics. */
export function idleBillOf(template: Template): Record<string, number> {
  const alarms = template.ofType<{ Metrics?: { MetricStat?: object }[] }>('AWS::CloudWatch::Alarm');
  const mappings = template.ofType<{ EventSourceArn: string; MetricsConfig?: object }>(
    'AWS::Lambda::EventSourceMapping',
  );
  const alarmMetrics = alarms.flatMap(({ properties: { Metrics = [{ MetricStat: {} }] } }) =>
    Metrics.filter(({ MetricStat }) => MetricStat),
  );
  const counted = mappings.filter(({ properties }) => properties.MetricsConfig);
  const polled = mappings.filter(({ properties }) => properties.EventSourceArn.includes(':sqs:'));
  return {
    // Without events, each mapping with `EventCount` metrics has one metric for polls.
    'metrics of mappings': counted.length * PRICES.metric,
    alarms: alarmMetrics.length * PRICES.alarmMetric,
    dashboards: template.ofType('AWS::CloudWatch::Dashboard').length * PRICES.dashboard,
    'polls of idle queues': polled.length * IDLE_POLLS_A_MONTH * PRICES.sqsRequest,
  };
}
