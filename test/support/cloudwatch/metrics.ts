import type { Metric } from '../../../infra/local/monitoring.ts';

/** An id for a metric that does not depend on the order of the dimensions. */
export const metricId = ({ namespace, name, dimensions }: Metric): string =>
  [
    namespace,
    name,
    ...Object.entries(dimensions)
      .map((entry) => entry.join('='))
      .sort(),
  ].join(' ');

/** The values of one metric in one minute. */
export interface Minute {
  count: number;
  sum: number;
  max: number;
  /** The first values, for percentiles. */
  values: number[];
}

const VALUES_KEPT = 10_000;

/** The values of metrics by minute. Minutes have numbers, and the owner advances them. */
export class MetricStore {
  private readonly minutes = new Map<string, Map<number, Minute>>();

  put(metric: Metric, value: number, minute: number): void {
    const id = metricId(metric);
    const ofMetric = this.minutes.get(id) ?? new Map<number, Minute>();
    this.minutes.set(id, ofMetric);
    const { count, sum, max, values } = ofMetric.get(minute) ?? { count: 0, sum: 0, max: -Infinity, values: [] };
    if (values.length < VALUES_KEPT) values.push(value);
    ofMetric.set(minute, { count: count + 1, sum: sum + value, max: Math.max(max, value), values });
  }

  /** Returns the statistic of the given minutes, or `undefined` without values. */
  statistic(metric: Metric, statistic: string, from: number, length: number): number | undefined {
    const ofMetric = this.minutes.get(metricId(metric));
    const minutes = Array.from({ length }, (_, i) => ofMetric?.get(from + i)).filter((each) => each !== undefined);
    return minutes.length === 0 ? undefined : statisticOf(minutes, statistic);
  }
}

function statisticOf(minutes: readonly Minute[], statistic: string): number {
  const sum = minutes.reduce((total, minute) => total + minute.sum, 0);
  const percentile = /^p(\d+)$/.exec(statistic)?.[1];
  if (percentile)
    return percentileOf(
      minutes.flatMap(({ values }) => values),
      Number(percentile),
    );
  if (statistic === 'Sum') return sum;
  const samples = minutes.reduce((total, { count }) => total + count, 0);
  if (statistic === 'SampleCount') return samples;
  if (statistic === 'Average') return sum / samples;
  if (statistic === 'Maximum') return Math.max(...minutes.map(({ max }) => max));
  throw new Error(`The local CloudWatch does not support the statistic ${statistic}`);
}

function percentileOf(values: readonly number[], percentile: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * percentile) / 100) - 1] ?? 0;
}
