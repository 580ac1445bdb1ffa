import { describe, expect, it } from 'vitest';
import { type AlarmProperties, LocalAlarm } from '../../support/cloudwatch/alarms.ts';
import { matchesPattern } from '../../support/cloudwatch/logs.ts';
import { metricMath } from '../../support/cloudwatch/metric-math.ts';
import { MetricStore } from '../../support/cloudwatch/metrics.ts';

const metric = { namespace: 'Mine', name: 'Failures', dimensions: { service: 'sync' } };
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
    ['SUM(METRICS())', { a: 4, b: 3 }, 7],
    ['SUM(METRICS())', { a: 4 }, 4],
    ['MAX(METRICS())', { a: 4, b: 3 }, 4],
    ['MAX([a, b])', { a: 4 }, 4],
    ['100 * FILL(b, 0) / a', { a: 4 }, 0],
    ['IF(a >= 4, 100 * b / a, 0)', { a: 4, b: 3 }, 75],
    ['IF(a > 4, 100 * b / a, 0)', { a: 4, b: 3 }, 0],
  ])('computes %s of %j as %d', (expression, values, result) => {
    expect(metricMath(expression, ['a', 'b'])(values)).toBe(result);
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

describe('a metric filter', () => {
  it.each([
    ['{ $.status = "5*" }', true],
    ['{ $.status = "50" }', false],
    ['{ $.status = "5*" && $.error != "-" }', false],
    ['{ $.none = "*" }', false],
    ['{ $.none != "x" && $.error = "-" }', true],
  ])('with the pattern %s matches: %s', (pattern, matches) => {
    expect(matchesPattern(pattern, { status: '503', error: '-' })).toBe(matches);
  });
});
