import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { EVENTS_SET_ASIDE, HANDLING_FAILURES, METRICS_SERVICE } from '../deployment.ts';

type Line = (event: string, fields: Record<string, unknown>) => void;

/** One line of JSON per unit of work: a dotted past-tense event and its fields. Never a body, a secret or a key. */
export type Log = Record<'info' | 'warn' | 'error', Line>;

/** Omits fields that are equal in every line, because AWS bills each byte of a log. */
class Short extends LogFormatter {
  formatAttributes(
    { logLevel: level, message, timestamp, serviceName: service }: UnformattedAttributes,
    fields: LogAttributes,
  ): LogItem {
    const attributes = { level, message, timestamp: this.formatTimestamp(timestamp), service };
    return new LogItem({ attributes }).addAttributes(fields);
  }
}

export const log: Log = new Logger({ logFormatter: new Short() });

export type ReportFailure = (event: string, fields: Record<string, unknown>, error: unknown) => void;

/**
 * Reports an internal failure to the operator: one ERROR line, and one count of the metric that an alarm watches. Do not call it
 * for mistakes of customers or unauthenticated clients.
 */
export const failureReporter =
  (log: Log): ReportFailure =>
  (event, fields, error) => {
    log.error(event, { ...fields, error });
    countFailure();
  };

/** CloudWatch metrics, written to the log in embedded format without a call. Their namespace is that of the stack. */
const metrics = new Metrics({ serviceName: METRICS_SERVICE });

/**
 * Counts an attempt with the latency of the endpoint. The number of latencies is the number of attempts. The other metrics are
 * written only when they count something, because a metric is billed for each hour with a value.
 */
export function countAttempt(
  latencyMs: number,
  { isFailure, isDisabling }: { isFailure: boolean; isDisabling: boolean },
): void {
  metrics.addMetric('Latency', MetricUnit.Milliseconds, latencyMs);
  if (isFailure) metrics.addMetric('Failures', MetricUnit.Count, 1);
  if (isDisabling) metrics.addMetric('Disabled', MetricUnit.Count, 1);
}

/** Counts and publishes an internal failure. An alarm watches it. */
export function countFailure(): void {
  metrics.addMetric(HANDLING_FAILURES, MetricUnit.Count, 1);
  publishMetrics();
}

/** Counts and publishes an event that the fan-out set aside. An alarm watches it. */
export function countSetAside(): void {
  metrics.addMetric(EVENTS_SET_ASIDE, MetricUnit.Count, 1);
  publishMetrics();
}

export function publishMetrics(): void {
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
}
