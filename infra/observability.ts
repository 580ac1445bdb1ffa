import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { EventSourceMapping, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { EVENTS_SET_ASIDE, HANDLING_FAILURES, METRICS_SERVICE } from '../lib/deployment.ts';
import {
  failedShareOf,
  gatewayErrorsIn,
  ofMapping,
  serverErrorShareOf,
  serverErrorsOf,
  sumOf,
} from './alarm-metrics.ts';
import { createAlarmTopic } from './alarm-topic.ts';
import { addBudget } from './budget.ts';
import type { DataTable } from './data.ts';
import { addDashboard } from './operations-dashboard.ts';
import { RUNBOOK } from './runbook.ts';
import type { Settings } from './settings.ts';

export interface ObservabilityProps {
  settings: Settings;
  /** Every function, and the functions with queues. Only these metrics show that such a function cannot run. */
  functions: LambdaFunction[];
  fedByQueues: LambdaFunction[];
  restApi: RestApi;
  accessLog: LogGroup;
  table: DataTable;
  fanOut: LambdaFunction;
  fanOutMapping: EventSourceMapping;
  stats: LambdaFunction;
  statsMapping: EventSourceMapping;
  /** Queues of pending work, with the longest intended delay. */
  queues: Record<string, { queue: Queue; longestDelay: Duration }>;
  /** Dead-letter queues, which must be empty. */
  failures: Record<string, Queue>;
}

const MINUTE = Duration.minutes(1);
const LATE = Duration.minutes(15);
const FOR_3_MINUTES = { evaluationPeriods: 3 };
/** With a metric by five minutes. */
const FOR_15_MINUTES = { evaluationPeriods: 3 };

/** Creates an alarm for every condition that an operator must handle, and optionally a dashboard. */
export class Observability extends Construct {
  /** The alarm on 5xx responses of the API. */
  readonly serverErrors: Alarm;
  /** Emails alarms. */
  readonly topic: Topic | undefined;
  private readonly namespace: string;

  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    this.namespace = props.settings.stackName;
    this.topic = createAlarmTopic(this, props.settings.alarmEmail);
    const gatewayErrors = gatewayErrorsIn(this, props.accessLog, this.namespace);
    const serverErrors = serverErrorsOf(props.restApi, gatewayErrors);
    this.serverErrors = this.alarm('ServerErrors', serverErrors, 5, 'server-errors', FOR_3_MINUTES);
    const share = serverErrorShareOf(props.restApi, gatewayErrors);
    this.alarm('ServerErrorShare', share, 50, 'server-errors', FOR_15_MINUTES);
    this.addAlarms(props);
    addBudget(this, props.settings);
    if (props.settings.cloudWatchDashboard === 'on') addDashboard(this, props, this.own);
  }

  private addAlarms(props: ObservabilityProps): void {
    const { fedByQueues, restApi, table, fanOut, fanOutMapping, stats, statsMapping } = props;
    for (const [name, queue] of Object.entries(props.failures)) {
      this.alarm(
        `${name}NotEmpty`,
        queue.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: 'Maximum' }),
        0,
        'dead-letters-not-empty',
      );
    }
    // The metric can include delayed messages, because AWS does not document this. They must not cause an alarm.
    for (const [name, { queue, longestDelay }] of Object.entries(props.queues)) {
      this.alarm(
        `${name}Age`,
        queue.metricApproximateAgeOfOldestMessage({ period: MINUTE, statistic: 'Maximum' }),
        longestDelay.plus(LATE).toSeconds(),
        'queue-age',
        { evaluationPeriods: 5 },
      );
    }
    const ageOf = (fn: LambdaFunction) => fn.metric('IteratorAge', { period: MINUTE, statistic: 'Maximum' });
    this.alarm('StreamAge', ageOf(fanOut), 300_000, 'stream-age', { evaluationPeriods: 5 });
    this.alarm('StatsAge', ageOf(stats), 900_000, 'stats-age', { evaluationPeriods: 5 });
    this.stopped('FanOutStopped', fanOutMapping);
    this.stopped('StatsStopped', statsMapping);
    // The function sets single events aside. Lambda discards batches after the maximum age, and stores them if possible.
    const discarded = ['OnFailureDestinationDeliveredEventCount', 'DroppedEventCount'];
    const failedEvents = [
      this.own(EVENTS_SET_ASIDE, 'Sum'),
      ...discarded.map((name) => ofMapping(fanOutMapping, name)),
    ];
    this.alarm('FailedEvents', sumOf(failedEvents), 0, 'failed-events');
    this.alarm('HandlingFailures', this.own(HANDLING_FAILURES, 'Sum', MINUTE), 5, 'handling-failures', FOR_3_MINUTES);
    const latency = restApi.metricLatency({ period: Duration.minutes(5), statistic: 'p99' });
    this.alarm('Latency', latency, 5000, 'latency', FOR_15_MINUTES);
    // A failure of the service can look like a failure of every endpoint, such as a network without a route.
    const failedShare = failedShareOf(this.own('Latency', 'SampleCount'), this.own('Failures', 'Sum'));
    this.alarm('FailedShare', failedShare, 80, 'deliveries-fail-everywhere', FOR_15_MINUTES);
    this.alarm('DisabledWebhooks', this.own('Disabled', 'Sum', Duration.hours(1)), 10, 'deliveries-fail-everywhere');
    this.alarm('TableThrottles', sumOf(table.throttleMetrics()), 10, 'table-throttles', FOR_3_MINUTES);
    // A failing or throttled API function is a server error. A failing stream function raises the age of the stream.
    const errors = fedByQueues.map((fn) => fn.metricErrors({ statistic: 'Sum' }));
    const throttles = [...fedByQueues, fanOut, stats].map((fn) => fn.metricThrottles({ statistic: 'Sum' }));
    this.alarm('WorkerErrors', sumOf(errors), 5, 'function-errors', FOR_3_MINUTES);
    this.alarm('WorkerThrottles', sumOf(throttles), 10, 'throttles', FOR_3_MINUTES);
    // SES reviews an account at these rates and can pause its sending (SES Developer Guide, "Reputation metrics").
    this.reputation('BounceRate', 0.05);
    this.reputation('ComplaintRate', 0.001);
    this.requestRate(restApi, props.settings.alarmRequestsPerSecond);
    this.clientErrors(restApi, props.settings.alarmClientErrorPercent);
  }

  /**
   * Fires when a mapping no longer reads its stream. Lambda records every poll, and an empty poll as 0, so a period without a
   * value had no poll (Lambda Developer Guide, "Event source mapping metrics").
   */
  private stopped(id: string, mapping: EventSourceMapping): void {
    this.alarm(id, ofMapping(mapping, 'PolledEventCount').with({ period: Duration.minutes(5) }), 0, 'stream-stopped', {
      evaluationPeriods: 2,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    });
  }

  /**
   * The rate over all emails that the account sends in the region. SES publishes it irregularly, and each value applies until the
   * next one.
   */
  private reputation(rate: string, threshold: number): void {
    const metric = new Metric({
      namespace: 'AWS/SES',
      metricName: `Reputation.${rate}`,
      statistic: 'Average',
      period: Duration.hours(1),
    });
    this.alarm(`Email${rate}`, metric, threshold, 'email-bounces', { treatMissingData: TreatMissingData.IGNORE });
  }

  private requestRate(restApi: RestApi, perSecond: number): void {
    if (perSecond === 0) return;
    const period = Duration.minutes(5);
    const requests = restApi.metricCount({ period, statistic: 'SampleCount' });
    this.alarm('RequestRate', requests, perSecond * period.toSeconds(), 'request-rate', { evaluationPeriods: 2 });
  }

  /** `4XXError` is 1 or 0 for each request, so its average is a share (API Gateway Developer Guide, "Metrics and dimensions"). */
  private clientErrors(restApi: RestApi, percent: number): void {
    if (percent === 0) return;
    const share = restApi.metricClientError({ period: Duration.minutes(5), statistic: 'Average' });
    this.alarm('ClientErrors', share, percent / 100, 'client-errors', FOR_15_MINUTES);
  }

  private alarm(
    id: string,
    metric: IMetric,
    threshold: number,
    section: string,
    more: Partial<AlarmProps> = {},
  ): Alarm {
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `What it means and what to do: ${RUNBOOK}#${section}`,
      ...more,
    });
    if (this.topic) {
      const notify = new SnsAction(this.topic);
      alarm.addAlarmAction(notify);
      alarm.addOkAction(notify);
    }
    return alarm;
  }

  /** Returns a metric that the functions write. */
  private readonly own = (metricName: string, statistic: string, period?: Duration): Metric => {
    const dimensionsMap = { service: METRICS_SERVICE };
    return new Metric({ namespace: this.namespace, metricName, statistic, dimensionsMap, ...(period && { period }) });
  };
}
