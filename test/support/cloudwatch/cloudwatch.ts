import type { AccessContext, Metric, Monitoring } from '../../../infra/local/monitoring.ts';
import type { Template } from '../../../infra/local/template.ts';
import { requestRecorder } from './access-log.ts';
import { type AlarmProperties, LocalAlarm } from './alarms.ts';
import { embeddedMetrics } from './embedded.ts';
import { logEvents, type MetricFilterProperties, matchesPattern } from './logs.ts';
import { MetricStore, metricId } from './metrics.ts';

/**
 * The metrics of the stack and the alarms of its template. Time is virtual: values belong to the current minute until
 * `passMinute` ends it, so a test controls all durations.
 */
export class LocalCloudWatch implements Monitoring {
  readonly alarms: readonly LocalAlarm[];
  /** Records a request in the metrics of the API and in the access log. */
  readonly request: (access: AccessContext) => void;
  private readonly store = new MetricStore();
  private readonly watched: ReadonlySet<string>;
  private readonly filters: readonly MetricFilterProperties[];
  private readonly samplers: (() => void)[] = [];
  private minute = 0;

  constructor(template: Pick<Template, 'ofType'>) {
    this.request = requestRecorder(template, this);
    this.filters = template
      .ofType<MetricFilterProperties>('AWS::Logs::MetricFilter')
      .map(({ properties }) => properties);
    this.alarms = template
      .ofType<AlarmProperties>('AWS::CloudWatch::Alarm')
      .map(({ id, properties }) => new LocalAlarm(id, properties));
    this.watched = new Set(this.alarms.flatMap(({ watched }) => watched.map(({ metric }) => metric)));
  }

  readonly put = (metric: Metric, value: number): void => {
    const id = metricId(metric);
    if (this.watched.has(id)) this.store.put(id, value, this.minute);
  };

  /** Processes lines of a log group, with embedded metrics and metric filters. */
  log(group: string, text: string): void {
    for (const event of logEvents(text)) {
      for (const { metric, value } of embeddedMetrics(event)) this.put(metric, value);
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
}
