import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { DeliverResult } from '../delivery/deliver.ts';
import { HANDLING_FAILURES, METRICS_SERVICE } from '../deployment.ts';

/** CloudWatch metrics, written to the log in the embedded format: no call, no wait. Their namespace is that of the stack. */
const metrics = new Metrics({ serviceName: METRICS_SERVICE });

/** Counts an attempt. Latency is that of the endpoint, in milliseconds. */
export function countAttempt(result: DeliverResult): void {
  if (!('attempt' in result)) return;
  const { attempt, verdict, disabled } = result;
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
