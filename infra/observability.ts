import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { EventSourceMapping, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { MAX_QUEUE_DELAY_SECONDS, RETRY_DELAYS_SECONDS } from '../lib/deliveries/retry-schedule.ts';
import { EVENTS_SET_ASIDE, HANDLING_FAILURES, METRICS_SERVICE } from '../lib/deployment.ts';
import { MAX_LEASE_SECONDS } from '../lib/documents/connections.ts';
import { EMAIL_WINDOW_MS } from '../lib/emails/email-budget.ts';
import {
  errorShareOf,
  failedShareOf,
  handlingShareOf,
  ofMapping,
  serverErrorShareOf,
  serverErrorsOf,
  sumOf,
} from './alarm-metrics.ts';
import { createAlarmTopic } from './alarm-topic.ts';
import type { Api } from './api.ts';
import type { Connections } from './connections.ts';
import type { DataTable } from './data.ts';
import type { Delivery } from './delivery.ts';
import { RUNBOOK } from './runbook.ts';
import type { Sender } from './sender.ts';
import type { Settings } from './settings.ts';
import type { Stats } from './stats.ts';

export interface ObservabilityProps {
  /** The receiver of alarms. Without it, alarms only change their state. */
  alarms: Settings['alarms'];
  table: DataTable;
  api: Api;
  delivery: Delivery;
  connections: Connections;
  /** The queue of the summaries of emails. */
  summaries: Queue;
  sender: Sender;
  stats: Stats;
}

/** The longest delay of a retry in a queue. Later retries use a schedule. */
const LONGEST_RETRY_DELAY_S = Math.max(...RETRY_DELAYS_SECONDS.filter((seconds) => seconds <= MAX_QUEUE_DELAY_SECONDS));
/** How late work can be without an alarm. */
const LATE_S = 15 * 60;
const MINUTE = Duration.minutes(1);
const FOR_3_MINUTES = { evaluationPeriods: 3 };
const FOR_5_MINUTES = { evaluationPeriods: 5 };
/** With a metric by five minutes. */
const FOR_15_MINUTES = { evaluationPeriods: 3 };

/** Creates an alarm for every condition that an operator must handle. */
export class Observability extends Construct {
  /** Sends alarms. */
  readonly topic: ITopic | undefined;
  private readonly namespace: string;

  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    this.namespace = Stack.of(this).stackName;
    this.topic = props.alarms && createAlarmTopic(this, props.alarms);
    this.addServerErrors(props.api);
    this.addAlarms(props);
  }

  private addServerErrors({ restApi, accessLog }: Api): void {
    // Responses of API Gateway itself have an error type in the access log, and all other responses have `-`.
    const gatewayErrors = new MetricFilter(this, 'GatewayErrors', {
      logGroup: accessLog,
      filterPattern: FilterPattern.literal('{ $.status = "5*" && $.error != "-" }'),
      metricNamespace: this.namespace,
      metricName: 'GatewayErrors',
    }).metric({ statistic: 'Sum' });
    this.alarm('ServerErrors', serverErrorsOf(restApi, gatewayErrors), 5, 'server-errors', FOR_3_MINUTES);
    this.alarm('ServerErrorShare', serverErrorShareOf(restApi, gatewayErrors), 50, 'server-errors', FOR_15_MINUTES);
  }

  private addAlarms({ table, api, delivery, connections, summaries, sender, stats }: ObservabilityProps): void {
    const { queues, deliver, deadLetters, schedules, fanOut, fanOutMapping } = delivery;
    const longest = { period: MINUTE, statistic: 'Maximum' };
    for (const [name, queue] of Object.entries({ DeadLetters: deadLetters, FailedSchedules: schedules.failures })) {
      const waiting = queue.metricApproximateNumberOfMessagesVisible(longest);
      this.alarm(`${name}NotEmpty`, waiting, 0, 'dead-letters-not-empty');
    }
    // The metric can include delayed messages, because AWS does not document this. They must not cause an alarm.
    const delays: [name: string, queue: Queue, longestDelayS: number][] = [
      ['Deliveries', queues.quick, LONGEST_RETRY_DELAY_S],
      ['NewDeliveries', queues.new, LONGEST_RETRY_DELAY_S],
      ['SlowDeliveries', queues.slow, LONGEST_RETRY_DELAY_S],
      ['Checks', connections.checks, MAX_LEASE_SECONDS],
      ['Summaries', summaries, EMAIL_WINDOW_MS / 1000],
    ];
    for (const [name, queue, longestDelayS] of delays) {
      const age = queue.metricApproximateAgeOfOldestMessage(longest);
      this.alarm(`${name}Age`, age, longestDelayS + LATE_S, 'queue-age', FOR_5_MINUTES);
    }
    const ageOf = (fn: LambdaFunction) => fn.metric('IteratorAge', longest);
    this.alarm('StreamAge', ageOf(fanOut), 300_000, 'stream-age', FOR_5_MINUTES);
    this.alarm('StatsAge', ageOf(stats.count), 900_000, 'stats-age', FOR_5_MINUTES);
    this.stopped('FanOutStopped', fanOutMapping);
    this.stopped('StatsStopped', stats.mapping);
    // The function sets single events aside. Lambda discards batches after the maximum age, and stores them if possible.
    const discarded = ['OnFailureDestinationDeliveredEventCount', 'DroppedEventCount'];
    const setAside = this.own(EVENTS_SET_ASIDE, 'Sum');
    const failedEvents = [setAside, ...discarded.map((name) => ofMapping(fanOutMapping, name))];
    this.alarm('FailedEvents', sumOf(failedEvents), 0, 'failed-events');
    const handling = handlingShareOf(this.own(HANDLING_FAILURES, 'Sum'), this.own('Latency', 'SampleCount'));
    this.alarm('HandlingFailures', handling, 5, 'handling-failures', FOR_15_MINUTES);
    const latency = api.restApi.metricLatency({ period: Duration.minutes(5), statistic: 'p99' });
    this.alarm('Latency', latency, 5000, 'latency', FOR_15_MINUTES);
    // A failure of the service can look like a failure of every endpoint, such as a network without a route.
    const failedShare = failedShareOf(this.own('Latency', 'SampleCount'), this.own('Failures', 'Sum'));
    this.alarm('FailedShare', failedShare, 80, 'deliveries-fail-everywhere', FOR_15_MINUTES);
    const disabled = this.own('Disabled', 'Sum').with({ period: Duration.hours(1) });
    this.alarm('DisabledWebhooks', disabled, 10, 'deliveries-fail-everywhere');
    this.alarm('TableThrottles', sumOf(table.throttleMetrics()), 10, 'table-throttles', FOR_3_MINUTES);
    // A failing or throttled API function is a server error. A failing stream function raises the age of the stream.
    const fedByQueues = [...Object.values(deliver), connections.check, sender.events];
    const throttles = [...fedByQueues, fanOut, stats.count].map((fn) => fn.metricThrottles({ statistic: 'Sum' }));
    this.alarm('WorkerErrors', errorShareOf(fedByQueues), 5, 'function-errors', FOR_15_MINUTES);
    this.alarm('WorkerThrottles', sumOf(throttles), 10, 'throttles', FOR_3_MINUTES);
    // SES reviews an account at these rates and can pause its sending (SES Developer Guide, "Reputation metrics").
    this.reputation('BounceRate', 0.05);
    this.reputation('ComplaintRate', 0.001);
  }

  /**
   * Fires when a mapping no longer reads its stream. Lambda records every poll, and an empty poll as 0, so a period without a
   * value had no poll (Lambda Developer Guide, "Event source mapping metrics").
   */
  private stopped(id: string, mapping: EventSourceMapping): void {
    this.alarm(id, ofMapping(mapping, 'PolledEventCount').with({ period: Duration.minutes(5) }), 0, 'stream-stopped', {
      evaluationPeriods: 2,
      comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: cloudwatch.TreatMissingData.BREACHING,
    });
  }

  /**
   * The rate over all emails that the account sends in the region. SES publishes it irregularly, and each value applies until the
   * next one.
   */
  private reputation(rate: string, threshold: number): void {
    const metric = new cloudwatch.Metric({
      namespace: 'AWS/SES',
      metricName: `Reputation.${rate}`,
      statistic: 'Average',
      period: Duration.hours(1),
    });
    this.alarm(`Email${rate}`, metric, threshold, 'email-bounces', {
      treatMissingData: cloudwatch.TreatMissingData.IGNORE,
    });
  }

  private alarm(
    id: string,
    metric: cloudwatch.IMetric,
    threshold: number,
    section: string,
    more: Partial<cloudwatch.AlarmProps> = {},
  ): void {
    const alarm = new cloudwatch.Alarm(this, id, {
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription: `What it means and what to do: ${RUNBOOK}#${section}`,
      ...more,
    });
    if (this.topic) {
      const notify = new SnsAction(this.topic);
      alarm.addAlarmAction(notify);
      alarm.addOkAction(notify);
    }
  }

  /** Returns a metric that the functions write. */
  private own(metricName: string, statistic: string): cloudwatch.Metric {
    const dimensionsMap = { service: METRICS_SERVICE };
    return new cloudwatch.Metric({ namespace: this.namespace, metricName, statistic, dimensionsMap });
  }
}
