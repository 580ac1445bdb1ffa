import { expect, it } from 'vitest';
import { promises } from './promises.ts';
import { choices, everyOption, extremes, synth, table } from './synth.ts';
import { changes, deployed, type Line, written } from './template-lines.ts';

/*
 * Compares the template, and what each setting changes in it, with the files in `templates/`. Review these files with every change.
 * `npm test -- test/infra/templates.test.ts --update` writes them.
 */

const byDefault = deployed({});
const alone = Object.entries(choices).flatMap(([setting, options]) =>
  options.slice(1).map((settings, i) => {
    const name = options.length > 2 ? `${setting}-${i + 1}` : setting;
    return { name, settings, lines: deployed(settings) };
  }),
);

it('deploys what was reviewed', async () => {
  await expect(written(byDefault)).toMatchFileSnapshot('templates/default.txt');
});

it.each([
  ...alone,
  { name: 'extremes', settings: extremes, lines: deployed(extremes) },
])('changes what was reviewed with $name', async ({ name, settings, lines }) => {
  const text = `${JSON.stringify(settings)}\n${changes(byDefault, lines)}`;
  await expect(text).toMatchFileSnapshot(`templates/${name}.txt`);
});

it('changes what was reviewed with settings that depend on each other', async () => {
  const chosen = alone.filter(({ name }) => !name.endsWith('-2')).map(({ lines }) => lines);
  const inAll = (line: Line) => chosen.every((lines) => lines.includes(line) || !byDefault.includes(line));
  const expected = [byDefault, ...chosen].flat().filter(inAll);
  await expect(changes(expected, deployed({ ...everyOption, table }))).toMatchFileSnapshot('templates/together.txt');
});

it('states what most resources of a type contain once, and what the others contain instead', () => {
  const lines: Line[] = ['Q A\tAge: 1', 'Q A\tKey: 1', 'Q B\tAge: 1', 'Q B\tKey: 1', 'Q C\tAge: 2', 'T D\tAge: 1'];
  expect(written(lines)).toBe('Q *\n  Age: 1\n  Key: 1\nQ A\nQ B\nQ C\n  Age: 2\n  without Key\nT D\n  Age: 1\n');
});

it('states a change of all resources of a type once, and names the resources of any other change', () => {
  const before: Line[] = ['Q A\tAge: 1', 'Q B\tAge: 1', 'Q C\tAge: 1', 'T D\tAge: 1'];
  expect(changes(before, ['Q A\tAge: 2', 'Q B\tAge: 2', 'Q C\tAge: 2'])).toBe('Q *\n  - Age: 1\n  + Age: 2\n- T D\n');
  const two: Line[] = ['Q A\tAge: 2', 'Q B\tAge: 2', 'Q C\tAge: 1', 'T D\tAge: 1', 'T E\tAge: 1'];
  expect(changes(before, two)).toBe('Q A, B\n  - Age: 1\n  + Age: 2\n+ T E\n  + Age: 1\n');
});

/** Each value of each setting, then all of them together. */
const variants = [...alone.map(({ settings }) => settings), everyOption, extremes, {}];

it.each(Object.entries(promises))('keeps a promise about every resource, with each setting: %s', (_, brokenBy) => {
  for (const settings of variants) expect(brokenBy(synth(settings)), JSON.stringify(settings)).toEqual([]);
});
