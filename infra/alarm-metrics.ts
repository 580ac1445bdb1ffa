import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { EventSourceMapping, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';

const byMinute = (expression: string, usingMetrics: Record<string, IMetric>) =>
  new MathExpression({ expression, usingMetrics, period: Duration.minutes(1) });
const byFiveMinutes = (expression: string, usingMetrics: Record<string, IMetric>) =>
  new MathExpression({ expression, usingMetrics, period: Duration.minutes(5) });

/** A metric of an event source mapping that has `EVENT_COUNT` metrics. */
export function ofMapping({ eventSourceMappingId }: EventSourceMapping, metricName: string): Metric {
  const dimensionsMap = { EventSourceMappingUUID: eventSourceMappingId };
  const period = Duration.minutes(1);
  return new Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap, statistic: 'Sum', period });
}

/** Adds up at most ten metrics by the minute, which is the limit of an alarm (CloudWatch quotas). AWS bills each metric. */
export const sumOf = (metrics: Metric[]): MathExpression =>
  byMinute('SUM(METRICS())', Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric])));

/**
 * 5xx responses by the minute. `5XXError` alone can miss the responses of the gateway, because AWS counts modified status codes
 * as `4XXError` (API Gateway Developer Guide, "Amazon API Gateway dimensions and metrics").
 */
export const serverErrorsOf = (restApi: RestApi, gateway: Metric): MathExpression =>
  byMinute('MAX(METRICS())', { all: restApi.metricServerError({ statistic: 'Sum' }), gateway });

/**
 * The percentage of requests with a 5xx response in five minutes, for an API with few requests. It is 0 below 3 requests. Every
 * request has a value of `5XXError`, so the number of values is the number of requests.
 */
export const serverErrorShareOf = (restApi: RestApi, gateway: Metric): MathExpression =>
  byFiveMinutes('IF(count >= 3, 100 * MAX([all, gateway]) / count, 0)', {
    count: restApi.metricServerError({ statistic: 'SampleCount' }),
    all: restApi.metricServerError({ statistic: 'Sum' }),
    gateway,
  });

/** The percentage of failed attempts in five minutes, over all endpoints. It is 0 up to 20 attempts. */
export const failedShareOf = (attempts: Metric, failures: Metric): MathExpression =>
  byFiveMinutes('IF(attempts > 20, 100 * FILL(failures, 0) / attempts, 0)', { attempts, failures });

/**
 * The percentage of work in five minutes that an internal failure interrupted. It is 0 below 3 failures, because few failures are
 * repeated without harm. A message that always fails moves to the dead letters, which have their own alarm.
 */
export const handlingShareOf = (failures: Metric, attempts: Metric): MathExpression =>
  byFiveMinutes('IF(failures >= 3, 100 * failures / (failures + FILL(attempts, 0)), 0)', { failures, attempts });

/** The percentage of invocations in five minutes that failed. It is 0 below 3 errors. */
export function errorShareOf(functions: LambdaFunction[]): MathExpression {
  const ofEach = (name: string, metricOf: (fn: LambdaFunction) => Metric) =>
    functions.map((fn, i) => [`${name}${i}`, metricOf(fn)] as const);
  const errors = ofEach('e', (fn) => fn.metricErrors());
  const invocations = ofEach('i', (fn) => fn.metricInvocations());
  const sum = (metrics: typeof errors) => `SUM([${metrics.map(([name]) => name).join(', ')}])`;
  const expression = `IF(${sum(errors)} >= 3, 100 * ${sum(errors)} / ${sum(invocations)}, 0)`;
  return byFiveMinutes(expression, Object.fromEntries([...errors, ...invocations]));
}
