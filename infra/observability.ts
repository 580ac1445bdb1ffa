import { Aws, Duration, Stack } from 'aws-cdk-lib';
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
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { EventSourceMapping, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { EVENTS_SET_ASIDE, HANDLING_FAILURES, METRICS_SERVICE } from '../lib/deployment.ts';
import {
  errorShareOf,
  failedShareOf,
  gatewayErrorsIn,
  handlingShareOf,
  ofMapping,
  serverErrorShareOf,
  serverErrorsOf,
  sumOf,
} from './alarm-metrics.ts';
import type { DataTable } from './data.ts';
import { pinLogicalId } from './logical-ids.ts';
import { RUNBOOK } from './runbook.ts';
import type { Settings } from './settings.ts';

export interface ObservabilityProps {
  /** The receiver of alarms. Without it, alarms only change their state. */
  alarms: Settings['alarms'];
  /** The functions with queues. Only these metrics show that such a function cannot run. */
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

/** Creates an alarm for every condition that an operator must handle. */
export class Observability extends Construct {
  /** Sends alarms. */
  readonly topic: ITopic | undefined;
  private readonly namespace: string;

  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    this.namespace = Stack.of(this).stackName;
    this.topic = props.alarms && this.createTopic(props.alarms);
    const gatewayErrors = gatewayErrorsIn(this, props.accessLog, this.namespace);
    this.alarm('ServerErrors', serverErrorsOf(props.restApi, gatewayErrors), 5, 'server-errors', FOR_3_MINUTES);
    const share = serverErrorShareOf(props.restApi, gatewayErrors);
    this.alarm('ServerErrorShare', share, 50, 'server-errors', FOR_15_MINUTES);
    this.addAlarms(props);
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
    const handling = handlingShareOf(this.own(HANDLING_FAILURES, 'Sum'), this.own('Latency', 'SampleCount'));
    this.alarm('HandlingFailures', handling, 5, 'handling-failures', FOR_15_MINUTES);
    const latency = restApi.metricLatency({ period: Duration.minutes(5), statistic: 'p99' });
    this.alarm('Latency', latency, 5000, 'latency', FOR_15_MINUTES);
    // A failure of the service can look like a failure of every endpoint, such as a network without a route.
    const failedShare = failedShareOf(this.own('Latency', 'SampleCount'), this.own('Failures', 'Sum'));
    this.alarm('FailedShare', failedShare, 80, 'deliveries-fail-everywhere', FOR_15_MINUTES);
    this.alarm('DisabledWebhooks', this.own('Disabled', 'Sum', Duration.hours(1)), 10, 'deliveries-fail-everywhere');
    this.alarm('TableThrottles', sumOf(table.throttleMetrics()), 10, 'table-throttles', FOR_3_MINUTES);
    // A failing or throttled API function is a server error. A failing stream function raises the age of the stream.
    const errors = errorShareOf(
      fedByQueues.map((fn) => ({ errors: fn.metricErrors(), invocations: fn.metricInvocations() })),
    );
    const throttles = [...fedByQueues, fanOut, stats].map((fn) => fn.metricThrottles({ statistic: 'Sum' }));
    this.alarm('WorkerErrors', errors, 5, 'function-errors', FOR_15_MINUTES);
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

  private createTopic(receiver: NonNullable<Settings['alarms']>): ITopic {
    if ('topicArn' in receiver) return Topic.fromTopicArn(this, 'Receiver', receiver.topicArn);
    const topic = new Topic(this, 'Alarms', { enforceSSL: true });
    pinLogicalId(topic, 'AlarmTopic');
    pinLogicalId(topic.addSubscription(new EmailSubscription(receiver.email)), 'AlarmEmail');
    // A custom policy replaces the default policy that allows services of the account to publish (SNS Developer Guide).
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    return topic;
  }

  private alarm(id: string, metric: IMetric, threshold: number, section: string, more: Partial<AlarmProps> = {}): void {
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
  }

  /** Returns a metric that the functions write. */
  private readonly own = (metricName: string, statistic: string, period?: Duration): Metric => {
    const dimensionsMap = { service: METRICS_SERVICE };
    return new Metric({ namespace: this.namespace, metricName, statistic, dimensionsMap, ...(period && { period }) });
  };
}
