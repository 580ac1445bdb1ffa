import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  type Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

interface Watched {
  functions: LambdaFunction[];
  restApi: RestApi;
  fanOut: LambdaFunction;
  queues: Record<string, { queue: Queue }>;
  failures: Record<string, Queue>;
}

/** Adds a CloudWatch dashboard with the state of the alarms of `scope`, and graphs. `own` returns a metric that the functions write. */
export function addDashboard(
  scope: Construct,
  { functions, restApi, fanOut, queues, failures }: Watched,
  own: (name: string, statistic: string) => Metric,
): void {
  const dashboard = new Dashboard(scope, 'Dashboard', { defaultInterval: Duration.hours(24) });
  const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
    new GraphWidget({ title, left, right, width: 8, height: 6 });
  const successRate = new MathExpression({
    expression: '100 * (1 - FILL(failures, 0) / attempts)',
    usingMetrics: { failures: own('Failures', 'Sum'), attempts: own('Latency', 'SampleCount') },
    label: 'Success rate (%)',
  });
  const alarms = scope.node.children.filter((child) => child instanceof Alarm);
  dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24, height: 4 }));
  dashboard.addWidgets(
    graph('Attempts and failures', [own('Latency', 'SampleCount'), own('Failures', 'Sum')], [successRate]),
    graph('Latency of endpoints (ms)', [own('Latency', 'p50'), own('Latency', 'p99')]),
    graph('Disabled webhooks', [own('Disabled', 'Sum')]),
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
      Object.values(failures).map((queue) => queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' })),
    ),
  );
}
