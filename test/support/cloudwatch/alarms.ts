import type { Metric } from '../../../infra/local/monitoring.ts';
import { type MetricValues, metricMath } from './metric-math.ts';
import type { MetricStore } from './metrics.ts';

interface MetricProperties {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: string }[];
}

interface Query {
  Id?: string;
  Expression?: string;
  MetricStat?: { Metric: MetricProperties; Period: number; Stat: string };
  Period?: number;
}

/** The properties of `AWS::CloudWatch::Alarm` that the template uses. */
export interface AlarmProperties extends Partial<MetricProperties> {
  Statistic?: string;
  ExtendedStatistic?: string;
  Period?: number;
  Metrics?: Query[];
  EvaluationPeriods: number;
  DatapointsToAlarm?: number;
  Threshold: number;
  ComparisonOperator: string;
  TreatMissingData?: string;
  AlarmDescription?: string;
}

export type AlarmState = 'OK' | 'ALARM';

/** The maximum number of metrics in one expression (CloudWatch quotas, "Alarms"). */
const MAX_METRICS = 10;
/** CloudWatch reads more periods than it evaluates. Real values take precedence over filled values. */
const MORE_PERIODS = 2;

/** The id of the metric of an alarm without an expression. */
const SINGLE = 'metric';

interface WatchedMetric {
  /** The name in the expression. */
  id: string;
  metric: Metric;
  statistic: string;
}

/** An alarm of the template (CloudWatch User Guide, "Using Amazon CloudWatch alarms"). */
export class LocalAlarm {
  readonly id: string;
  readonly description: string;
  readonly watched: readonly WatchedMetric[];
  private readonly properties: AlarmProperties;
  private readonly combine: (values: MetricValues) => number;
  private readonly breaches: (value: number) => boolean;
  private readonly minutes: number;
  private state: AlarmState = 'OK';

  constructor(id: string, properties: AlarmProperties) {
    this.id = id;
    this.properties = properties;
    this.description = properties.AlarmDescription ?? '';
    this.watched = watchedBy(properties);
    if (this.watched.length > MAX_METRICS) throw new Error(`${id} watches more than ${MAX_METRICS} metrics`);
    const { Expression = SINGLE } = properties.Metrics?.find((query) => query.Expression) ?? {};
    this.combine = metricMath(
      Expression,
      this.watched.map(({ id }) => id),
    );
    const compare = known(COMPARISONS, properties.ComparisonOperator);
    this.breaches = (value) => compare(value, properties.Threshold);
    known(TREATMENTS, properties.TreatMissingData ?? '');
    this.minutes = periodOf(properties) / 60;
  }

  /** Returns the state after `ended` minutes. */
  evaluate(store: MetricStore, ended: number): AlarmState {
    const { EvaluationPeriods: periods, DatapointsToAlarm: needed = periods } = this.properties;
    const real = Array.from({ length: periods + MORE_PERIODS }, (_, i) => this.valueAt(store, ended, i))
      .filter((value) => value !== undefined)
      .slice(0, periods);
    const breaching = real.filter(this.breaches).length;
    const missing = periods - real.length;
    if (breaching >= needed) this.state = 'ALARM';
    else if (breaching + missing < needed) this.state = 'OK';
    else this.state = known(TREATMENTS, this.properties.TreatMissingData ?? '')(this.state);
    return this.state;
  }

  /** Returns the value of the period that ended `ago` periods before. */
  private valueAt(store: MetricStore, ended: number, ago: number): number | undefined {
    const from = ended - this.minutes * (ago + 1);
    const values = Object.fromEntries(
      this.watched.map(({ id, metric, statistic }) => [id, store.statistic(metric, statistic, from, this.minutes)]),
    );
    return Object.values(values).every((value) => value === undefined) ? undefined : this.combine(values);
  }
}

function watchedBy({ Metrics, ...alarm }: AlarmProperties): WatchedMetric[] {
  if (!Metrics) {
    const statistic = alarm.Statistic ?? alarm.ExtendedStatistic ?? '';
    return [{ id: SINGLE, metric: toMetric(alarm as MetricProperties), statistic }];
  }
  return Metrics.flatMap(({ Id: id = '', MetricStat }) =>
    MetricStat ? [{ id, metric: toMetric(MetricStat.Metric), statistic: MetricStat.Stat }] : [],
  );
}

/** Returns the period in seconds, which all metrics of an expression share. */
function periodOf({ Period, Metrics = [] }: AlarmProperties): number {
  const periods = new Set(Metrics.flatMap(({ MetricStat }) => MetricStat?.Period ?? []));
  const [period = Period ?? 0] = periods;
  if (periods.size > 1 || period % 60 !== 0 || period === 0)
    throw new Error('All metrics of an alarm must have the same period in whole minutes');
  return period;
}

function toMetric({ Namespace: namespace, MetricName: name, Dimensions = [] }: MetricProperties): Metric {
  return { namespace, name, dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])) };
}

const COMPARISONS: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

/** The state that missing values lead to (CloudWatch User Guide, "Configuring how CloudWatch alarms treat missing data"). */
const TREATMENTS: Record<string, (before: AlarmState) => AlarmState> = {
  breaching: () => 'ALARM',
  notBreaching: () => 'OK',
  ignore: (before) => before,
};

function known<T>(table: Record<string, T>, name: string): T {
  const entry = table[name];
  if (entry === undefined) throw new Error(`The local CloudWatch does not support ${name}`);
  return entry;
}
