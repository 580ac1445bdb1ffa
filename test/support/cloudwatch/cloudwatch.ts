import type { AccessContext, Metric, Monitoring } from '../../../infra/local/monitoring.ts';
import type { Template } from '../../../infra/local/template.ts';
import { requestRecorder } from './access-log.ts';
import { type AlarmProperties, LocalAlarm } from './alarms.ts';
import { embeddedMetrics } from './embedded.ts';
import { type LogEvent, logEvents, type MetricFilterProperties, matchesPattern } from './logs.ts';
import { MetricStore, metricId } from './metrics.ts';
import { publishedMetrics } from './published.ts';

const MAX_INVALID_EVENTS = 100;

/**
 * The metrics of the stack and the alarms of its template. Time is virtual: values belong to the current minute until
 * `passMinute` ends it, so a test controls all durations.
 */
export class LocalCloudWatch implements Monitoring {
  readonly alarms: readonly LocalAlarm[];
  /** Records a request in the metrics of the API and in the access log. */
  readonly request: (access: AccessContext) => void;
  private readonly store = new MetricStore();
  private readonly published: ReadonlySet<string>;
  private readonly watched: ReadonlySet<string>;
  private readonly filters: readonly MetricFilterProperties[];
  /** The reasons why CloudWatch would ignore metrics that functions printed. */
  readonly invalidEvents: string[] = [];
  private readonly samplers: (() => void)[] = [];
  private minute = 0;

  /** Throws if an alarm watches a metric of AWS that AWS does not publish for the resources of the template. */
  constructor(template: Pick<Template, 'ofType' | 'ref'>) {
    this.request = requestRecorder(template, this);
    this.published = new Set(publishedMetrics(template).map(metricId));
    this.filters = template
      .ofType<MetricFilterProperties>('AWS::Logs::MetricFilter')
      .map(({ properties }) => properties);
    this.alarms = template
      .ofType<AlarmProperties>('AWS::CloudWatch::Alarm')
      .map(({ id, properties }) => new LocalAlarm(id, properties));
    const metrics = this.alarms.flatMap(({ watched }) => watched.map(({ metric }) => metric));
    for (const metric of metrics) this.check(metric);
    this.watched = new Set(metrics.map(metricId));
  }

  readonly put = (metric: Metric, value: number): void => {
    this.check(metric);
    if (this.watched.has(metricId(metric))) this.store.put(metric, value, this.minute);
  };

  /** Processes lines of a log group, with embedded metrics and metric filters. */
  log(group: string, text: string): void {
    for (const event of logEvents(text)) {
      for (const { metric, value } of this.embedded(event)) this.put(metric, value);
      for (const { LogGroupName, FilterPattern, MetricTransformations } of this.filters) {
        if (LogGroupName !== group || !matchesPattern(FilterPattern, event)) continue;
        for (const { MetricNamespace: namespace, MetricName: name, MetricValue } of MetricTransformations)
          this.put({ namespace, name, dimensions: {} }, Number(MetricValue));
      }
    }
  }

  /** Calls `sample` at the end of every minute, because AWS publishes some metrics once per minute and not per event. */
  readonly everyMinute = (sample: () => void): void => {
    this.samplers.push(sample);
  };

  /** Ends the current minute, evaluates the alarms, and returns the ids of those in the ALARM state. */
  passMinute(): readonly string[] {
    for (const sample of this.samplers) sample();
    this.minute++;
    const inAlarm = this.alarms.filter((alarm) => alarm.evaluate(this.store, this.minute) === 'ALARM');
    return inAlarm.map(({ id }) => id);
  }

  // Continues after an invalid event, as AWS does, which counts it in `AWS/Logs`.
  private embedded(event: LogEvent): ReturnType<typeof embeddedMetrics> {
    try {
      return embeddedMetrics(event);
    } catch (error) {
      if (this.invalidEvents.length < MAX_INVALID_EVENTS) this.invalidEvents.push((error as Error).message);
      return [];
    }
  }

  private check(metric: Metric): void {
    if (metric.namespace.startsWith('AWS/') && !this.published.has(metricId(metric)))
      throw new Error(`AWS does not publish ${metricId(metric)}`);
  }
}
