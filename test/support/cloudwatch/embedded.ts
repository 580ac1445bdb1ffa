import type { Metric } from '../../../infra/local/monitoring.ts';
import type { LogEvent } from './logs.ts';

interface Embedded {
  CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[];
}

/** Returns the metrics in an event in embedded metric format (CloudWatch User Guide, "Specification: Embedded metric format"). */
export function embeddedMetrics(event: LogEvent): { metric: Metric; value: number }[] {
  const { CloudWatchMetrics = [] } = (event._aws as Partial<Embedded> | undefined) ?? {};
  return CloudWatchMetrics.flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) => {
      const dimensions = Object.fromEntries(names.map((name) => [name, String(event[name])]));
      return Metrics.flatMap(({ Name: name }) =>
        [event[name]].flat().map((value) => ({ metric: { namespace, name, dimensions }, value: Number(value) })),
      );
    }),
  );
}
