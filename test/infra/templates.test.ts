import { expect, it } from 'vitest';
import { RUNBOOK } from '../../infra/runbook.ts';
import type { SettingsInput } from '../../infra/settings.ts';
import { promises } from './promises.ts';
import { withReferences } from './resources.ts';
import { choices, everyOption, extremes, synth, synthStack, table } from './synth.ts';

/*
 * Compares the template, and what each setting changes in it, with the files in `templates/`. Review these files with every change.
 * `npm test -- test/infra/templates.test.ts --update` writes them.
 */

/** The parts of the API that depend on its paths. Their kinds are recorded, and `api.test.ts` states which paths have them. */
const OF_PATHS = /^AWS::ApiGateway::(Deployment|Method|Resource|ApiKey|UsagePlanKey)$/;
const OF_ONE_PATH = /^(HttpMethod|ResourceId|ParentId|PathPart|Description|Value|KeyId|Uri|\S+-Methods)$/;
const ofKind = (name: string, value: unknown) => (OF_ONE_PATH.test(name) ? undefined : value);
/** The longest value in one line. */
const WIDTH = 110;

/** Returns a line for each value. The entries of a list have no numbers, so that a new entry does not change the others. */
function linesOf(place: string, value: unknown): string[] {
  const text = JSON.stringify(value);
  if (text.length <= WIDTH || typeof value !== 'object' || value === null) return [`${place}: ${text}`];
  if (Array.isArray(value)) return value.flatMap((each) => linesOf(place, each));
  return Object.entries(value).flatMap(([name, each]) => linesOf(`${place}.${name}`, each));
}

/** Returns everything that is deployed with these settings, in lines. Hashes of code are left out. */
function deployed(settings: SettingsInput): string[] {
  const { template, terminationProtection, tags } = synthStack(settings);
  const { Resources, Metadata: _, ...others } = template.toJSON();
  const kinds = new Set<string>();
  const resources = Object.entries<Record<string, object>>(Resources).flatMap(
    ([id, { Type, Metadata: _, Properties, ...attributes }]) => {
      const place = `${Type} ${id}`;
      if (OF_PATHS.test(String(Type))) {
        kinds.add(`${Type} ${JSON.stringify(withReferences(Properties), ofKind)}`);
        return [];
      }
      const { Code: _code, ...properties } = { ...Properties, ...attributes } as Record<string, unknown>;
      const lines = Object.entries(properties).flatMap(([name, value]) =>
        linesOf(`${place} ${name}`, withReferences(value)),
      );
      return [place, ...lines];
    },
  );
  const stack = { terminationProtection, tags, ...others };
  const ofStack = Object.entries(stack).flatMap(([name, value]) => linesOf(name, withReferences(value)));
  return [...ofStack, ...resources, ...kinds].map((line) =>
    line.replace(/(Deployment[0-9A-F]{8})[0-9a-f]{32}/g, '$1').replace(RUNBOOK, 'RUNBOOK.md'),
  );
}

const byDefault = deployed({});
const alone = Object.entries(choices).flatMap(([setting, options]) =>
  options.slice(1).map((settings, i) => {
    const name = options.length > 2 ? `${setting}-${i + 1}` : setting;
    return { name, settings, lines: deployed(settings) };
  }),
);

it('deploys what was reviewed', async () => {
  await expect(`${byDefault.join('\n')}\n`).toMatchFileSnapshot('templates/default.txt');
});

it.each([
  ...alone,
  { name: 'extremes', settings: extremes, lines: deployed(extremes) },
])('changes what was reviewed with $name', async ({ name, settings, lines }) => {
  const removed = byDefault.filter((line) => !lines.includes(line)).map((line) => `- ${line}`);
  const added = lines.filter((line) => !byDefault.includes(line)).map((line) => `+ ${line}`);
  await expect([JSON.stringify(settings), ...removed, ...added, ''].join('\n')).toMatchFileSnapshot(
    `templates/${name}.txt`,
  );
});

it('changes what was reviewed with settings that depend on each other', async () => {
  const chosen = alone.filter(({ name }) => !name.endsWith('-2')).map(({ lines }) => lines);
  const inAll = (line: string) => chosen.every((lines) => lines.includes(line) || !byDefault.includes(line));
  const expected = new Set([byDefault, ...chosen].flat().filter(inAll));
  const together = new Set(deployed({ ...everyOption, table }));
  const removed = [...expected.difference(together)].map((line) => `- ${line}`);
  const added = [...together.difference(expected)].map((line) => `+ ${line}`);
  await expect([...removed, ...added, ''].join('\n')).toMatchFileSnapshot('templates/together.txt');
});

/** Each value of each setting, then all of them together. */
const variants = [...alone.map(({ settings }) => settings), everyOption, extremes, {}];

it.each(Object.entries(promises))('keeps a promise about every resource, with each setting: %s', (_, brokenBy) => {
  for (const settings of variants) expect(brokenBy(synth(settings)), JSON.stringify(settings)).toEqual([]);
});
