import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../infra/local/template.ts';
import { type AlarmProperties, LocalAlarm } from '../../support/cloudwatch/alarms.ts';
import { LocalCloudWatch } from '../../support/cloudwatch/cloudwatch.ts';
import { embeddedMetrics } from '../../support/cloudwatch/embedded.ts';
import { logEvents, matchesPattern } from '../../support/cloudwatch/logs.ts';
import { MetricStore } from '../../support/cloudwatch/metrics.ts';

const metric = { namespace: 'Mine', name: 'Failures', dimensions: { service: 'sync' } };
const other = { ...metric, name: 'Others' };
const properties: AlarmProperties = {
  Namespace: 'Mine',
  MetricName: 'Failures',
  Dimensions: [{ Name: 'service', Value: 'sync' }],
  Statistic: 'Sum',
  Period: 60,
  EvaluationPeriods: 3,
  Threshold: 5,
  ComparisonOperator: 'GreaterThanThreshold',
  TreatMissingData: 'notBreaching',
};

/** Returns the state after each minute. `X` is a minute above the threshold, `0` is below, and `-` has no value. */
function statesOf(minutes: string, overrides: Partial<AlarmProperties> = {}): string {
  const alarm = new LocalAlarm('Alarm', { ...properties, ...overrides });
  const store = new MetricStore();
  return [...minutes]
    .map((value, minute) => {
      if (value !== '-') store.put(metric, value === 'X' ? 6 : 5, minute);
      return alarm.evaluate(store, minute + 1) === 'ALARM' ? 'A' : '.';
    })
    .join('');
}

describe('an alarm', () => {
  it.each<[string, string, Partial<AlarmProperties>]>([
    ['0XX0XXX0', '......A.', {}],
    ['0XX0XXX0', '..AAAAAA', { DatapointsToAlarm: 2 }],
    // The evaluation range is longer than the evaluation periods, and real values count before missing ones.
    ['X-X-X', '....A', {}],
    ['X-X--X', '......', {}],
    ['XXX----', '..AAA..', {}],
    ['0-----', '.....A', { TreatMissingData: 'breaching' }],
    ['-', 'A', { TreatMissingData: 'breaching' }],
    ['XXX-----0', '..AAAAAA.', { TreatMissingData: 'ignore' }],
    ['---X---', '.......', { TreatMissingData: 'ignore' }],
    ['0X', 'A.', { ComparisonOperator: 'LessThanThreshold', Threshold: 6, EvaluationPeriods: 1 }],
  ])('with the minutes %s has the states %s with %j', (minutes, states, overrides) => {
    expect(statesOf(minutes, overrides)).toBe(states);
  });

  it('evaluates a period of several minutes as one', () => {
    expect(statesOf('0000X0', { Period: 120, EvaluationPeriods: 1, Threshold: 10 })).toBe('....AA');
  });

  it.each([
    ['SUM(METRICS())', [4, 3], 7],
    ['SUM(METRICS())', [4], 4],
    ['MAX(METRICS())', [4, 3], 4],
    ['MAX([m0, m1])', [4], 4],
    ['100 * FILL(m1, 0) / m0', [4], 0],
    ['IF(m0 >= 4, 100 * m1 / m0, 0)', [4, 3], 75],
    ['IF(m0 > 4, 100 * m1 / m0, 0)', [4, 3], 0],
  ])('computes %s of %j as %d', (Expression, values, result) => {
    const stat = (Id: string, MetricName: string) => ({
      Id,
      MetricStat: { Metric: { ...properties, Namespace: 'Mine', MetricName }, Period: 60, Stat: 'Sum' },
    });
    const { Namespace: _, MetricName: __, Period: ___, Statistic: ____, Dimensions: _____, ...rest } = properties;
    const stateAt = (Threshold: number) => {
      const Metrics = [{ Expression }, stat('m0', 'Failures'), stat('m1', 'Others')];
      const alarm = new LocalAlarm('Alarm', { ...rest, Metrics, EvaluationPeriods: 1, Threshold });
      const store = new MetricStore();
      for (const [i, value] of values.entries()) store.put([metric, other][i] ?? metric, value, 0);
      return alarm.evaluate(store, 1);
    };
    expect([stateAt(result - 1), stateAt(result)]).toEqual(['ALARM', 'OK']);
  });

  it.each<[string, Partial<AlarmProperties>]>([
    ['METRICS()/2', { Metrics: [{ Expression: 'METRICS()/2', Period: 60 }] }],
    ['SUM([other])', { Metrics: [{ Expression: 'SUM([other])', Period: 60 }] }],
    ['RATE(1)', { Metrics: [{ Expression: 'RATE(1)', Period: 60 }] }],
    ['GreaterThanUpperThreshold', { ComparisonOperator: 'GreaterThanUpperThreshold' }],
    ['missing', { TreatMissingData: 'missing' }],
    ['whole minutes', { Period: 10 }],
    [
      'more than 10 metrics',
      { Metrics: Array(11).fill({ Id: 'm', MetricStat: { Metric: properties, Period: 60, Stat: 'Sum' } }) },
    ],
  ])('is rejected with %s', (reason, overrides) => {
    expect(() => new LocalAlarm('Alarm', { ...properties, ...overrides })).toThrow(reason);
  });
});

describe('a statistic', () => {
  it.each([
    ['Sum', 10],
    ['Average', 2.5],
    ['Maximum', 4],
    ['SampleCount', 4],
    ['p99', 4],
    ['p50', 2],
  ])('%s of four values is %d', (statistic, value) => {
    const store = new MetricStore();
    for (const each of [1, 2, 3, 4]) store.put(metric, each, each);
    expect(store.statistic(metric, statistic, 1, 4)).toBe(value);
    expect(store.statistic(metric, statistic, 5, 4)).toBeUndefined();
  });
});

describe('a log', () => {
  it('contains metrics in embedded format with one or several values', () => {
    const CloudWatchMetrics = [{ Namespace: 'Mine', Dimensions: [['service']], Metrics: [{ Name: 'Failures' }] }];
    const event = { _aws: { Timestamp: 1, CloudWatchMetrics }, service: 'sync' };
    const text = [
      { ...event, Failures: 1 },
      { ...event, Failures: [2, 3] },
    ]
      .map((each) => JSON.stringify(each))
      .join('\n');
    const found = logEvents(`START\n${text}\n"text"\n`).flatMap(embeddedMetrics);
    expect(found).toEqual([1, 2, 3].map((value) => ({ metric, value })));
  });

  it.each([
    ['{ $.status = "5*" }', true],
    ['{ $.status = "50" }', false],
    ['{ $.status = "5*" && $.error != "-" }', false],
    ['{ $.none = "*" }', false],
    ['{ $.none != "x" && $.error = "-" }', true],
  ])('matches the pattern %s: %s', (pattern, matches) => {
    expect(matchesPattern(pattern, { status: '503', error: '-' })).toBe(matches);
  });

  it('rejects other pattern formats', () => {
    for (const pattern of ['{ $.status > 500 }', 'ERROR', '{ $.a = "1" || $.b = "2" }'])
      expect(() => matchesPattern(pattern, {})).toThrow('Unknown filter pattern');
  });
});

describe('the local CloudWatch', () => {
  const watch = (Dimensions: object[], MetricName = 'Errors') => {
    const resources: Partial<Record<string, Resource[]>> = {
      'AWS::Lambda::Function': [{ id: 'Deliver', type: '', properties: {} }],
      'AWS::CloudWatch::Alarm': [
        { id: 'Alarm', type: '', properties: { ...properties, Namespace: 'AWS/Lambda', MetricName, Dimensions } },
      ],
    };
    const ofType = <T>(type: string) => (resources[type] ?? []) as Resource<T>[];
    return new LocalCloudWatch({ ofType, ref: (id) => id });
  };

  it('rejects an alarm on an unknown metric, dimension or resource', () => {
    const Deliver = { Name: 'FunctionName', Value: 'Deliver' };
    expect(watch([Deliver]).alarms).toHaveLength(1);
    expect(() => watch([Deliver], 'Error')).toThrow('AWS does not publish AWS/Lambda Error FunctionName=Deliver');
    expect(() => watch([{ ...Deliver, Name: 'Function' }])).toThrow('AWS does not publish');
    expect(() => watch([{ ...Deliver, Value: 'Delivery' }])).toThrow('AWS does not publish');
    expect(() => watch([])).toThrow('AWS does not publish');
  });

  it('rejects an AWS metric that does not exist', () => {
    const cloudWatch = watch([{ Name: 'FunctionName', Value: 'Deliver' }]);
    expect(() => cloudWatch.put({ namespace: 'AWS/Lambda', name: 'Fails', dimensions: {} }, 1)).toThrow();
  });
});
