import type { Metric } from '../../../infra/local/monitoring.ts';
import type { LogEvent } from './logs.ts';

interface Embedded {
  Timestamp: number;
  CloudWatchMetrics: Directive[];
}

interface Directive {
  Namespace: string;
  Dimensions: string[][];
  Metrics: { Name: string }[];
}

/** Limits of the format (CloudWatch User Guide, "Specification: Embedded metric format"). */
const MAX_METRICS = 100;
const MAX_DIMENSIONS = 30;
const MAX_VALUES = 100;
const MAX_DIMENSION_NAME = 250;
const MAX_TEXT = 1024;
/** CloudWatch API Reference, "MetricDatum". */
const MAX_VALUE = 2 ** 360;
/** ASCII characters without control characters, one of which is no space (CloudWatch API Reference, "Dimension"). */
const DIMENSION = /^[ -~]*[!-~][ -~]*$/;
/** Versions of the specification state 256 KB and 1 MB. This is the smaller value. */
const MAX_LINE_BYTES = 262_144;

/** Returns the metrics in an event in embedded metric format. Throws if CloudWatch would extract none. */
export function embeddedMetrics(event: LogEvent): { metric: Metric; value: number }[] {
  const { CloudWatchMetrics, Timestamp } = (event._aws as Partial<Embedded> | undefined) ?? {};
  if (!CloudWatchMetrics) return [];
  require(Number.isSafeInteger(Timestamp), 'the timestamp');
  require(Buffer.byteLength(JSON.stringify(event)) <= MAX_LINE_BYTES, 'the size of the event');
  return CloudWatchMetrics.flatMap((directive) => metricsOf(directive, event));
}

function metricsOf({ Namespace: namespace, Dimensions, Metrics }: Directive, event: LogEvent) {
  require(isText(namespace, MAX_TEXT), 'the namespace');
  require(Metrics.length <= MAX_METRICS, 'the number of metrics');
  return Dimensions.flatMap((names) => {
    require(names.length <= MAX_DIMENSIONS, 'the number of dimensions');
    const dimensions = Object.fromEntries(names.map((name) => [name, dimensionOf(name, event)]));
    return Metrics.flatMap(({ Name: name }) => {
      require(isText(name, MAX_TEXT), `the name ${name}`);
      const values = [event[name]].flat();
      require(values.length <= MAX_VALUES && values.every(isValue), `the values of ${name}`);
      return values.map((value) => ({ metric: { namespace, name, dimensions }, value: Number(value) }));
    });
  });
}

function dimensionOf(name: string, event: LogEvent): string {
  const value = event[name];
  const isName = isText(name, MAX_DIMENSION_NAME) && DIMENSION.test(name) && !name.startsWith(':');
  require(isName && isText(value, MAX_TEXT) && DIMENSION.test(value), `the dimension ${name}`);
  return value;
}

const isValue = (value: unknown): boolean => Number.isFinite(value) && Math.abs(value as number) <= MAX_VALUE;

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= maxLength;

function require(isValid: boolean, what: string): asserts isValid {
  if (!isValid) throw new Error(`CloudWatch extracts no metric from an event with an invalid ${what}`);
}
