/** The values of a period by the ids of the metrics. A metric without a value is `undefined`. */
type MetricValues = Readonly<Record<string, number | undefined>>;

/** A list in brackets, or the result of `METRICS()`, which supports no arithmetic. */
type Series = ReadonlyMap<string, number | undefined> | readonly (number | undefined)[];

const numbersIn = (series: Series): number[] => [...series.values()].filter((value) => value !== undefined);

/** The functions of CloudWatch metric math that the template uses (CloudWatch User Guide, "Using math expressions"). */
const FUNCTIONS = {
  SUM: (series: Series) => numbersIn(series).reduce((total, value) => total + value, 0),
  MAX: (series: Series) => Math.max(...numbersIn(series)),
  FILL: (value: number | undefined, missing: number) => value ?? missing,
  IF: (condition: boolean, value: number, otherwise: number) => (condition ? value : otherwise),
};

/**
 * Compiles an expression of the template. Its operators have the same meaning in JavaScript. Throws if it uses an unknown function or
 * metric.
 */
export function metricMath(expression: string, ids: readonly string[]): (values: MetricValues) => number {
  const evaluate = new Function(...Object.keys(FUNCTIONS), 'METRICS', ...ids, `return ${expression};`);
  const combine = (values: MetricValues): number => {
    const metrics = () => new Map(Object.entries(values));
    return evaluate(...Object.values(FUNCTIONS), metrics, ...ids.map((id) => values[id]));
  };
  try {
    if (Number.isFinite(combine(Object.fromEntries(ids.map((id) => [id, 1]))))) return combine;
  } catch {}
  throw new Error(`The local CloudWatch does not support ${expression}`);
}
