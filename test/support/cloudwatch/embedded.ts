import type { Metric } from '../../../infra/local/monitoring.ts';
import type { LogEvent } from './logs.ts';

interface Embedded {
  Timestamp: number;
  CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[];
}

/** The maximum number of values of a metric (CloudWatch User Guide, "Specification: Embedded metric format"). */
const MAX_VALUES = 100;

/**
 * Returns the metrics in an event in embedded metric format. Throws if CloudWatch would extract none because of what an event contains.
 * Names have constant values in the code, so their limits are not checked.
 */
export function embeddedMetrics(event: LogEvent): { metric: Metric; value: number }[] {
  const { CloudWatchMetrics = [], Timestamp } = (event._aws as Partial<Embedded> | undefined) ?? {};
  return CloudWatchMetrics.flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) => {
      const dimensions = Object.fromEntries(names.map((name) => [name, event[name]]));
      return Metrics.flatMap(({ Name: name }) => {
        const values = [event[name]].flat();
        require(Number.isSafeInteger(Timestamp), 'timestamp');
        require(isTexts(dimensions), `dimension of ${name}`);
        require(values.length <= MAX_VALUES && values.every(Number.isFinite), `value of ${name}`);
        return values.map((value) => ({ metric: { namespace, name, dimensions }, value: Number(value) }));
      });
    }),
  );
}

const isTexts = (dimensions: Record<string, unknown>): dimensions is Record<string, string> =>
  Object.values(dimensions).every((value) => typeof value === 'string' && value !== '');

function require(isValid: boolean, what: string): asserts isValid {
  if (!isValid) throw new Error(`CloudWatch extracts no metric from an event with an invalid ${what}`);
}
