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

/** The values of metrics by id and minute. Minutes have numbers, and the owner advances them. */
export class MetricStore {
  private readonly values = new Map<string, number[]>();

  put(id: string, value: number, minute: number): void {
    const key = `${minute} ${id}`;
    const values = this.values.get(key) ?? [];
    values.push(value);
    this.values.set(key, values);
  }

  /** Returns the statistic of the given minutes, or `undefined` without values. */
  statistic(id: string, statistic: string, from: number, length: number): number | undefined {
    const values = Array.from({ length }, (_, i) => this.values.get(`${from + i} ${id}`) ?? []).flat();
    return values.length === 0 ? undefined : statisticOf(values, statistic);
  }
}

function statisticOf(values: readonly number[], statistic: string): number {
  const sum = values.reduce((total, value) => total + value, 0);
  if (statistic === 'Sum') return sum;
  if (statistic === 'SampleCount') return values.length;
  if (statistic === 'Average') return sum / values.length;
  if (statistic === 'Maximum') return Math.max(...values);
  const percentile = Number(/^p(\d+)$/.exec(statistic)?.[1]);
  const value = values.toSorted((a, b) => a - b)[Math.ceil((values.length * percentile) / 100) - 1];
  if (value === undefined) throw new Error(`The local CloudWatch does not support the statistic ${statistic}`);
  return value;
}
