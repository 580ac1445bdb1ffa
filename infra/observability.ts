import { Aws, Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { EventSourceMapping, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { EVENTS_SET_ASIDE, HANDLING_FAILURES, METRICS_SERVICE } from '../lib/deployment.ts';
import type { DataTable } from './data.ts';
import { pinLogicalId } from './logical-ids.ts';
import type { Settings } from './settings.ts';

export interface ObservabilityProps {
  settings: Settings;
  /** Every function, and those that queues feed: nothing else tells that one of them cannot run. */
  functions: LambdaFunction[];
  fedByQueues: LambdaFunction[];
  restApi: RestApi;
  table: DataTable;
  fanOut: LambdaFunction;
  fanOutMapping: EventSourceMapping;
  figures: LambdaFunction;
  /** Queues that work waits in, and how long it may do so on purpose. */
  queues: Record<string, { queue: Queue; longestDelay: Duration }>;
  /** Queues that must be empty. */
  failures: Record<string, Queue>;
}

/** Where each alarm is explained: the headings of the runbook. */
const RUNBOOK = 'infra/RUNBOOK.md';
const MINUTE = Duration.minutes(1);
const LATE = Duration.minutes(15);

/** An alarm for all that a person has to look at, and, if wanted, one dashboard. */
export class Observability extends Construct {
  private readonly topic: Topic | undefined;
  private readonly namespace: string;

  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    this.namespace = props.settings.stackName;
    this.topic = this.createTopic(props.settings.alarmEmail);
    this.addAlarms(props);
    if (props.settings.cloudWatchDashboard === 'on') this.addDashboard(props);
  }

  private createTopic(email: string): Topic | undefined {
    if (email === '') return undefined;
    const topic = new Topic(this, 'Alarms', { enforceSSL: true });
    pinLogicalId(topic, 'AlarmTopic');
    pinLogicalId(topic.addSubscription(new EmailSubscription(email)), 'AlarmEmail');
    // A policy of one's own replaces the one that lets services of the account publish (SNS Developer Guide).
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

  private addAlarms({
    fedByQueues,
    restApi,
    table,
    fanOut,
    fanOutMapping,
    figures,
    queues,
    failures,
  }: ObservabilityProps): void {
    for (const [name, queue] of Object.entries(failures)) {
      this.alarm(
        `${name}NotEmpty`,
        queue.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: 'Maximum' }),
        0,
        'dead-letters-not-empty',
      );
    }
    // Messages that are delayed may count (CloudWatch metrics of SQS do not say): they are no reason for an alarm.
    for (const [name, { queue, longestDelay }] of Object.entries(queues)) {
      this.alarm(
        `${name}Age`,
        queue.metricApproximateAgeOfOldestMessage({ period: MINUTE, statistic: 'Maximum' }),
        longestDelay.plus(LATE).toSeconds(),
        'queue-age',
        5,
      );
    }
    const ageOf = (fn: LambdaFunction) => fn.metric('IteratorAge', { period: MINUTE, statistic: 'Maximum' });
    this.alarm('StreamAge', ageOf(fanOut), 300_000, 'stream-age', 5);
    this.alarm('FiguresAge', ageOf(figures), 900_000, 'figures-age', 5);
    this.alarm('FailedEvents', this.failedEvents(fanOutMapping), 0, 'failed-events');
    this.alarm('HandlingFailures', this.own(HANDLING_FAILURES, 'Sum', MINUTE), 5, 'handling-failures', 3);
    this.alarm('ServerErrors', restApi.metricServerError({ period: MINUTE, statistic: 'Sum' }), 5, 'server-errors', 3);
    const latency = restApi.metricLatency({ period: Duration.minutes(5), statistic: 'p99' });
    this.alarm('Latency', latency, 5000, 'latency', 3);
    this.alarm('TableThrottles', table.metricThrottles(MINUTE), 10, 'table-throttles', 3);
    // Alarms are billed by the metric. A function of the API that crashes or is throttled is a server error, one of a stream makes it late.
    const errors = sumOf(fedByQueues, (fn) => fn.metricErrors({ period: MINUTE, statistic: 'Sum' }));
    const throttles = sumOf(fedByQueues, (fn) => fn.metricThrottles({ period: MINUTE, statistic: 'Sum' }));
    this.alarm('WorkerErrors', errors, 5, 'function-errors', 3);
    this.alarm('WorkerThrottles', throttles, 10, 'throttles', 3);
  }

  private alarm(id: string, metric: IMetric, threshold: number, section: string, evaluationPeriods = 1): void {
    const alarm = new Alarm(this, id, {
      metric,
      threshold,
      evaluationPeriods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `What it means and what to do: ${RUNBOOK}#${section}`,
    });
    if (this.topic) alarm.addAlarmAction(new SnsAction(this.topic));
  }

  private addDashboard({ functions, restApi, fanOut, queues, failures }: ObservabilityProps): void {
    const dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(24) });
    const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
      new GraphWidget({ title, left, right, width: 8, height: 6 });
    const successRate = new MathExpression({
      expression: '100 * (1 - FILL(failures, 0) / attempts)',
      usingMetrics: { failures: this.own('Failures', 'Sum'), attempts: this.own('Latency', 'SampleCount') },
      label: 'Success rate (%)',
    });
    dashboard.addWidgets(
      graph('Attempts and failures', [this.own('Latency', 'SampleCount'), this.own('Failures', 'Sum')], [successRate]),
      graph('Latency of endpoints (ms)', [this.own('Latency', 'p50'), this.own('Latency', 'p99')]),
      graph('Disabled webhooks', [this.own('Disabled', 'Sum')]),
    );
    dashboard.addWidgets(
      graph('Requests', [restApi.metricCount(), restApi.metricClientError(), restApi.metricServerError()]),
      graph(
        'Age of the oldest message (s)',
        Object.values(queues).map(({ queue }) => queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum' })),
      ),
      graph('Age of the stream (ms)', [fanOut.metric('IteratorAge', { statistic: 'Maximum' })]),
    );
    dashboard.addWidgets(
      graph(
        'Errors of functions',
        functions.map((fn) => fn.metricErrors({ statistic: 'Sum' })),
      ),
      graph(
        'Throttles',
        functions.map((fn) => fn.metricThrottles({ statistic: 'Sum' })),
      ),
      graph(
        'Dead letters',
        Object.values(failures).map((queue) =>
          queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }),
        ),
      ),
    );
  }

  /**
   * Events that the fan-out set aside, and those that its mapping discarded after too many retries, stored or not (Lambda
   * Developer Guide, "Event source mapping metrics").
   */
  private failedEvents({ eventSourceMappingId }: EventSourceMapping): MathExpression {
    const dimensionsMap = { EventSourceMappingUUID: eventSourceMappingId };
    const metric = (metricName: string) =>
      new Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap, statistic: 'Sum' });
    return new MathExpression({
      expression: 'SUM(METRICS())',
      usingMetrics: {
        setAside: this.own(EVENTS_SET_ASIDE, 'Sum'),
        kept: metric('OnFailureDestinationDeliveredEventCount'),
        dropped: metric('DroppedEventCount'),
      },
      period: MINUTE,
    });
  }

  private own(metricName: string, statistic: string, period?: Duration): Metric {
    const dimensionsMap = { service: METRICS_SERVICE };
    return new Metric({ namespace: this.namespace, metricName, statistic, dimensionsMap, ...(period && { period }) });
  }
}

/** Of at most ten functions: more metrics an alarm cannot add up (CloudWatch quotas). */
function sumOf(functions: LambdaFunction[], metricOf: (fn: LambdaFunction) => Metric): MathExpression {
  const usingMetrics = Object.fromEntries(functions.map((fn, i) => [`m${i}`, metricOf(fn)]));
  return new MathExpression({ expression: 'SUM(METRICS())', usingMetrics, period: MINUTE });
}
