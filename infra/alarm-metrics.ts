import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

const period = Duration.minutes(1);
const longPeriod = Duration.minutes(5);

/** A metric of an event source mapping that has `EVENT_COUNT` metrics. */
export const ofMapping = ({ eventSourceMappingId }: EventSourceMapping, metricName: string): Metric =>
  new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { EventSourceMappingUUID: eventSourceMappingId },
    statistic: 'Sum',
    period,
  });

/** Adds up at most ten metrics by the minute, which is the limit of an alarm (CloudWatch quotas). AWS bills each metric. */
export function sumOf(metrics: Metric[]): MathExpression {
  const usingMetrics = Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]));
  return new MathExpression({ expression: 'SUM(METRICS())', usingMetrics, period });
}

/**
 * Counts the 5xx responses of API Gateway itself in the access log. They have an error type, and all other responses have `-`.
 */
export const gatewayErrorsIn = (scope: Construct, logGroup: LogGroup, metricNamespace: string): Metric =>
  new MetricFilter(scope, 'GatewayErrors', {
    logGroup,
    filterPattern: FilterPattern.literal('{ $.status = "5*" && $.error != "-" }'),
    metricNamespace,
    metricName: 'GatewayErrors',
  }).metric({ statistic: 'Sum' });

/**
 * 5xx responses by the minute. `5XXError` alone can miss the responses of the gateway, because AWS counts modified status codes
 * as `4XXError` (API Gateway Developer Guide, "Amazon API Gateway dimensions and metrics").
 */
export function serverErrorsOf(restApi: RestApi, gateway: Metric): MathExpression {
  const usingMetrics = { all: restApi.metricServerError({ statistic: 'Sum' }), gateway };
  return new MathExpression({ expression: 'MAX(METRICS())', usingMetrics, period });
}

/**
 * The percentage of requests with a 5xx response in five minutes, for an API with few requests. It is 0 below 3 requests. Every
 * request has a value of `5XXError`, so the number of values is the number of requests.
 */
export function serverErrorShareOf(restApi: RestApi, gateway: Metric): MathExpression {
  const usingMetrics = {
    count: restApi.metricServerError({ statistic: 'SampleCount' }),
    all: restApi.metricServerError({ statistic: 'Sum' }),
    gateway,
  };
  const expression = 'IF(count >= 3, 100 * MAX([all, gateway]) / count, 0)';
  return new MathExpression({ expression, usingMetrics, period: longPeriod });
}

/** The percentage of failed attempts in five minutes, over all endpoints. It is 0 up to 20 attempts. */
export function failedShareOf(attempts: Metric, failures: Metric): MathExpression {
  const expression = 'IF(attempts > 20, 100 * FILL(failures, 0) / attempts, 0)';
  return new MathExpression({ expression, usingMetrics: { attempts, failures }, period: longPeriod });
}

/**
 * The percentage of messages in five minutes that an internal failure returned to their queue. It is 0 below 3 failures, because
 * few failures are repeated without harm. A message that always fails moves to the dead letters, which have their own alarm.
 */
export function handlingShareOf(failures: Metric, attempts: Metric): MathExpression {
  const expression = 'IF(failures >= 3, 100 * failures / (failures + FILL(attempts, 0)), 0)';
  return new MathExpression({ expression, usingMetrics: { failures, attempts }, period: longPeriod });
}

/** The percentage of invocations in five minutes that failed. It is 0 below 3 errors. */
export function errorShareOf(functions: { errors: Metric; invocations: Metric }[]): MathExpression {
  const usingMetrics = Object.fromEntries(
    functions.flatMap(({ errors, invocations }, i) => [
      [`e${i}`, errors],
      [`i${i}`, invocations],
    ]),
  );
  const sum = (name: string) => `SUM([${functions.map((_, i) => `${name}${i}`).join(', ')}])`;
  const expression = `IF(${sum('e')} >= 3, 100 * ${sum('e')} / ${sum('i')}, 0)`;
  return new MathExpression({ expression, usingMetrics, period: longPeriod });
}
