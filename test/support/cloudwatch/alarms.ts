import type { Metric } from '../../../infra/local/monitoring.ts';
import { metricMath } from './metric-math.ts';
import { type MetricStore, metricId } from './metrics.ts';

interface MetricProperties {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: string }[];
}

interface Query {
  Id?: string;
  Expression?: string;
  MetricStat?: { Metric: MetricProperties; Period: number; Stat: string };
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
}

type AlarmState = 'OK' | 'ALARM';

/** The maximum number of metrics in one expression (CloudWatch quotas, "Alarms"). */
const MAX_METRICS = 10;
/** CloudWatch reads more periods than it evaluates. Real values take precedence over filled values. */
const MORE_PERIODS = 2;

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

/** An alarm of the template (CloudWatch User Guide, "Using Amazon CloudWatch alarms"). */
export class LocalAlarm {
  readonly id: string;
  /** The ids of the metrics, with their names in the expression. */
  readonly watched: readonly { name: string; metric: string; statistic: string }[];
  private readonly properties: AlarmProperties;
  private readonly combine: ReturnType<typeof metricMath>;
  private readonly breaches: (value: number) => boolean;
  private readonly treat: (before: AlarmState) => AlarmState;
  private readonly minutes: number;
  private state: AlarmState = 'OK';

  constructor(id: string, properties: AlarmProperties) {
    this.id = id;
    this.properties = properties;
    const queries = properties.Metrics ?? [queryOf(properties)];
    this.watched = queries.flatMap(({ Id: name = '', MetricStat }) =>
      MetricStat ? [{ name, metric: metricId(toMetric(MetricStat.Metric)), statistic: MetricStat.Stat }] : [],
    );
    const { Expression } = queries.find((query) => query.Expression) ?? { Expression: SINGLE };
    const names = this.watched.map(({ name }) => name);
    this.combine = metricMath(Expression ?? '', names);
    const periods = new Set(queries.flatMap(({ MetricStat }) => MetricStat?.Period ?? []));
    const [seconds = 0] = periods;
    this.minutes = seconds / 60;
    const compare = COMPARISONS[properties.ComparisonOperator];
    const treat = TREATMENTS[properties.TreatMissingData ?? ''];
    const isKnown = compare && treat && periods.size === 1 && Number.isInteger(this.minutes);
    if (!isKnown || names.length > MAX_METRICS) throw new Error(`The local CloudWatch does not support ${id}`);
    this.breaches = (value) => compare(value, properties.Threshold);
    this.treat = treat;
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
    else this.state = this.treat(this.state);
    return this.state;
  }

  /** Returns the value of the period that ended `ago` periods before. */
  private valueAt(store: MetricStore, ended: number, ago: number): number | undefined {
    const from = ended - this.minutes * (ago + 1);
    const values = this.watched.map(({ name, metric, statistic }) => [
      name,
      store.statistic(metric, statistic, from, this.minutes),
    ]);
    return values.every(([, value]) => value === undefined) ? undefined : this.combine(Object.fromEntries(values));
  }
}

/** The name of the metric of an alarm without an expression. */
const SINGLE = 'metric';

const queryOf = ({ Period = 0, Statistic, ExtendedStatistic, ...metric }: AlarmProperties): Query => ({
  Id: SINGLE,
  MetricStat: { Metric: metric as MetricProperties, Period, Stat: Statistic ?? ExtendedStatistic ?? '' },
});

function toMetric({ Namespace: namespace, MetricName: name, Dimensions = [] }: MetricProperties): Metric {
  return { namespace, name, dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])) };
}
