import * as v from 'valibot';
import { clipped, MAX_VIOLATIONS } from './schema.ts';

/**
 * An array whose validation stops after 100 violations. It validates no item if there are more than `max`, so valid content
 * bounds the work for a request. In the JSON Schema it is `v.array`.
 */
export function examined<const Item extends v.GenericSchema>(item: Item, max = Number.POSITIVE_INFINITY) {
  const array = v.array(item, 'must be an array');
  const run = (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) => {
    const { value: input } = dataset;
    if (!Array.isArray(input)) return array['~run'](dataset, config);
    if (input.length > max) {
      const tooLong = v.maxLength(max, tooManyText(max))['~run']({ typed: true, value: input }, config);
      return { ...tooLong, typed: false }; // no check may rely on items that were not validated
    }
    const value: unknown[] = [];
    const issues: v.BaseIssue<unknown>[] = [];
    let typed = true;
    for (const [key, each] of input.entries()) {
      const examined = item['~run']({ value: each }, config);
      const step = { type: 'array', origin: 'value', input, key, value: each } as const;
      for (const issue of examined.issues ?? []) issues.push({ ...issue, path: [step, ...(issue.path ?? [])] });
      typed &&= examined.typed;
      value.push(examined.value);
      if (issues.length >= MAX_VIOLATIONS) break;
    }
    return { typed, value, ...(issues.length > 0 && { issues }) };
  };
  return { ...array, '~run': run as (typeof array)['~run'] };
}

const tooManyText = (max: number): string => `must have at most ${max} entries`;

/** An array with `min` to `max` entries. */
export const list = <const Item extends v.GenericSchema>(item: Item, min: 0 | 1, max: number) =>
  v.pipe(
    examined(item, max),
    v.minLength(min, 'must have at least 1 entry'),
    v.maxLength(max, tooManyText(max)), // for the JSON Schema
  );

/** The same with texts that are distinct, or whose `identity` is. */
export const uniqueList = <const Item extends v.GenericSchema<string, string>>(
  item: Item,
  min: 0 | 1,
  max: number,
  identity = (value: string) => value,
) =>
  v.pipe(
    list(item, min, max),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const input = dataset.value;
      const seen = new Set<string>();
      for (const [key, value] of input.entries()) {
        if (seen.has(identity(value)))
          addIssue({
            message: `"${clipped(value)}" is a duplicate`,
            path: [{ type: 'array', origin: 'value', input, key, value }],
          });
        seen.add(identity(value));
      }
    }),
    v.metadata({ jsonSchema: { uniqueItems: true } }),
  );
