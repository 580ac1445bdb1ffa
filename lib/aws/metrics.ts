import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Handled } from '../delivery/deliver.ts';

export const METRICS_NAMESPACE = 'DocumentSync';

/** The one dimension of every metric. */
export const METRICS_SERVICE = 'document-sync';

/** Units of work that failed on our side. */
export const HANDLING_FAILURES = 'HandlingFailures';

/** CloudWatch metrics, written to the log in the embedded format: no call, no wait. */
const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: METRICS_SERVICE });

/** Counts an attempt. Latency is that of the endpoint, in milliseconds. */
export function countAttempt(handled: Handled): void {
  if (!('attempt' in handled)) return;
  const { attempt, verdict, disabled } = handled;
  const succeeded = verdict.status === 'succeeded';
  metrics.addMetric('Attempts', MetricUnit.Count, 1);
  metrics.addMetric('Successes', MetricUnit.Count, succeeded ? 1 : 0);
  metrics.addMetric('Failures', MetricUnit.Count, succeeded ? 0 : 1);
  metrics.addMetric('Retries', MetricUnit.Count, attempt.number > 1 ? 1 : 0);
  metrics.addMetric('Disabled', MetricUnit.Count, disabled ? 1 : 0);
  metrics.addMetric('Latency', MetricUnit.Milliseconds, attempt.durationMs);
}

/** Counts and publishes a failure on our side: an alarm watches it. */
export function countFailure(): void {
  metrics.addMetric(HANDLING_FAILURES, MetricUnit.Count, 1);
  publishMetrics();
}

export type AuthorizerDecision = 'Authorized' | 'Unauthorized' | 'Forbidden';

/** Counts and publishes a decision of the authorizer. */
export function countDecision(decision: AuthorizerDecision): void {
  metrics.addMetric(decision, MetricUnit.Count, 1);
  publishMetrics();
}

export function publishMetrics(): void {
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
}
