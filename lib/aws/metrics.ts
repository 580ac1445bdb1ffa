import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { EVENTS_SET_ASIDE, HANDLING_FAILURES, METRICS_SERVICE } from '../deployment.ts';

// The log is in another file, because the function of the pages logs, and its bundle has no metrics.

/** CloudWatch metrics, written to the log in embedded format without a call. Their namespace is that of the stack. */
let created: Metrics | undefined; // opens the streams of the process, as the logger does
function metrics(): Metrics {
  created ??= new Metrics({ serviceName: METRICS_SERVICE });
  return created;
}

/**
 * Counts an attempt with the latency of the endpoint. The number of latencies is the number of attempts. The other metrics are
 * written only when they count something, because a metric is billed for each hour with a value.
 */
export function countAttempt(
  latencyMs: number,
  { isFailure, isDisabling }: { isFailure: boolean; isDisabling: boolean },
): void {
  metrics().addMetric('Latency', MetricUnit.Milliseconds, latencyMs);
  if (isFailure) metrics().addMetric('Failures', MetricUnit.Count, 1);
  if (isDisabling) metrics().addMetric('Disabled', MetricUnit.Count, 1);
}

/** Counts and publishes an internal failure. An alarm watches it. */
export function countFailure(): void {
  metrics().addMetric(HANDLING_FAILURES, MetricUnit.Count, 1);
  publishMetrics();
}

/** Counts and publishes an event that the fan-out set aside. An alarm watches it. */
export function countSetAside(): void {
  metrics().addMetric(EVENTS_SET_ASIDE, MetricUnit.Count, 1);
  publishMetrics();
}

export function publishMetrics(): void {
  if (created?.hasStoredMetrics()) created.publishStoredMetrics();
}
