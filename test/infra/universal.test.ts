import { describe, expect, it } from 'vitest';
import { promises } from './promises.ts';
import { choices, everyOption, extremes, synth } from './synth.ts';

/** Each value of each setting, then all of them together. */
const variants = [...Object.values(choices).flatMap((options) => options.slice(1)), everyOption, extremes, {}];

describe('every resource of the template, with each setting', () => {
  it.each(Object.entries(promises))('keeps its promise: %s', (_, brokenBy) => {
    for (const settings of variants) expect(brokenBy(synth(settings)), JSON.stringify(settings)).toEqual([]);
  });
});
