import { RUNBOOK } from '../../infra/runbook.ts';
import { type SettingsInput, settingsOf } from '../../infra/settings.ts';
import { VERSION } from '../../lib/version.ts';
import { withReferences } from './resources.ts';
import { synthStack } from './synth.ts';

/*
 * The text of a template for review. It states the common values of many resources once, and has placeholders for the names in
 * many values. So a change of one resource, or of one name, changes few lines.
 */

/** A value of a resource, or of the stack: the place, a tab, and the name and the value. */
export type Line = `${string}\t${string}`;

/** The parts of the API that depend on its paths. Their kinds are recorded, and `api.test.ts` states which paths have them. */
const OF_PATHS = /^AWS::ApiGateway::(Deployment|Method|Resource|ApiKey|UsagePlanKey)$/;
const OF_ONE_PATH = /^(HttpMethod|ResourceId|ParentId|PathPart|Description|Value|KeyId|Uri|\S+-Methods)$/;
const ofKind = (name: string, value: unknown) => (OF_ONE_PATH.test(name) ? undefined : value);

/** The longest value in one line, except for values that a person reads as a whole, and variables. */
const WIDTH = 110;
const IN_ONE_LINE = /^(Outputs\.\w+|Metrics|MethodSettings|\w+\.Statement)$/;
const IN_LINES = /^Environment(\.Variables)?$/;

/** Returns a line for each value. The entries of a list have no numbers, so that a new entry does not change the others. */
function linesOf(place: string, name: string, value: unknown): Line[] {
  const text = JSON.stringify(value);
  const isWhole = IN_ONE_LINE.test(name);
  if (Array.isArray(value) && (text.length > WIDTH || isWhole))
    return value.flatMap((each) => linesOf(place, name, each));
  const isLine = isWhole || (text.length <= WIDTH && !IN_LINES.test(name));
  if (isLine || typeof value !== 'object' || value === null) return [`${place}\t${name}: ${text}`];
  return Object.entries(value).flatMap(([member, each]) => linesOf(place, `${name}.${member}`, each));
}

/** Returns everything that is deployed with these settings. Hashes of code are left out. */
export function deployed(input: SettingsInput): Line[] {
  const { template, terminationProtection, tags } = synthStack(input);
  const { Resources, Metadata: _, ...others } = template.toJSON();
  const stack = { terminationProtection, tags, ...others };
  const ofStack = Object.entries(stack).flatMap(([name, value]) => linesOf('Stack', name, withReferences(value)));
  const replaced = placeholders(input, others.Outputs.BaseUrl.Value);
  const kinds = new Set<Line>();
  const resources = Object.entries<Record<string, object>>(Resources).flatMap(
    ([id, { Type, Metadata: _, Properties, ...attributes }]) => {
      const place = `${Type} ${id}`;
      if (OF_PATHS.test(String(Type))) {
        kinds.add(`Kinds of ${Type}\t${JSON.stringify(withReferences(Properties), ofKind)}`);
        return [];
      }
      const { Code: _code, ...properties } = { ...Properties, ...attributes } as Record<string, unknown>;
      const lines = Object.entries(properties).flatMap(([name, value]) =>
        linesOf(place, name, withPlaceholders(value, [[`"${id}"`, '"{id}"'], ...replaced])),
      );
      return lines.length > 0 ? lines : [`${place}\t` as const];
    },
  );
  return [...ofStack, ...resources, ...kinds].map(
    (line) => line.replace(/(Deployment[0-9A-F]{8})[0-9a-f]{32}/g, '$1') as Line,
  );
}

type Placeholder = [value: string, name: string];

/** Replaces values, and sorts members, because their order has no meaning. */
function withPlaceholders(value: unknown, replaced: readonly Placeholder[]): unknown {
  const text = replaced.reduce(
    (each, [found, name]) => each.replaceAll(found, name),
    JSON.stringify(withReferences(value)),
  );
  const isObject = (each: unknown) => typeof each === 'object' && each !== null && !Array.isArray(each);
  const sorted = (each: object) => Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.parse(text, (_, each) => (isObject(each) ? sorted(each) : each));
}

/** Texts in many values, with their placeholders. A value that does not follow a setting keeps its text. The outputs show every one. */
function placeholders(input: SettingsInput, baseUrl: unknown): Placeholder[] {
  const { stackName, senderEmail, table } = settingsOf(input);
  const tableArn = table && `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/${table.name}`;
  return [
    [String(withReferences(baseUrl)), '{base_url}'],
    [RUNBOOK, 'RUNBOOK.md'],
    [`'${VERSION}'`, "'{version}'"],
    [`"${stackName}"`, '"{stack_name}"'],
    [`"${senderEmail}"`, '"{sender_email}"'],
    [table?.streamArn ?? '${Table.StreamArn}', '{table.stream}'],
    [tableArn ?? '${Table.Arn}', '{table.arn}'],
    [`"${table?.name ?? '${Table}'}"`, '"{table}"'],
  ];
}

const parts = (line: Line) => line.split('\t') as [place: string, text: string];
const nameIn = (text: string) => text.replace(/: .*/, '');
const typeOf = (place: string) => place.replace(/ .*/, '');
const byPlace = (lines: readonly Line[]) => Map.groupBy(lines, (line) => parts(line)[0]);

/**
 * Returns the lines under their places. A value that most resources of a type have is stated once for the type, if no resource
 * has several values of that name. Another resource states its own value, or that it lacks one.
 */
export function written(lines: readonly Line[]): string {
  const resources = [...byPlace(lines)].map(([place, each]) => ({ place, texts: each.map((line) => parts(line)[1]) }));
  const sections = [...Map.groupBy(resources, ({ place }) => typeOf(place))].flatMap(([type, all]) => {
    const usual = usualIn(all.map(({ texts }) => texts));
    const usualNames = usual.map(nameIn);
    const own = all.map(({ place, texts }) => {
      const names = texts.map(nameIn);
      const missing = usualNames.filter((name) => !names.includes(name));
      return [place, ...texts.filter((text) => !usual.includes(text)), ...missing.map((name) => `without ${name}`)];
    });
    return usual.length > 0 ? [[`${type} *`, ...usual], ...own] : own;
  });
  return textOf(sections);
}

function usualIn(resources: readonly string[][]): string[] {
  if (resources.length < 3) return [];
  const isSingle = (name: string) =>
    resources.every((texts) => texts.filter((text) => nameIn(text) === name).length < 2);
  const counts = Map.groupBy(resources.flat(), (text) => text);
  return [...counts].flatMap(([text, { length }]) =>
    length > resources.length / 2 && isSingle(nameIn(text)) ? [text] : [],
  );
}

/**
 * Returns what the second lines change in the first ones. Resources of a type with the same changes are stated together, as `*` if
 * all of the type have them. Of a removed resource, only the name is stated.
 */
export function changes(before: readonly Line[], after: readonly Line[]): string {
  const [removed, added] = [new Set(before).difference(new Set(after)), new Set(after).difference(new Set(before))];
  const signed = [
    ...[...removed].map((line) => ['-', line] as const),
    ...[...added].map((line) => ['+', line] as const),
  ];
  const [olds, news] = [byPlace(before), byPlace(after)];
  const changed = [...Map.groupBy(signed, ([, line]) => parts(line)[0])].map(([place, each]) => {
    const isGone = place !== 'Stack' && !news.has(place);
    const texts = each.map(([sign, line]) => `${sign} ${parts(line)[1]}`).filter((text) => text.length > 2);
    return { place: isGone ? `- ${place}` : olds.has(place) ? place : `+ ${place}`, texts: isGone ? [] : texts };
  });
  const groups = Map.groupBy(changed, ({ place, texts }) => [place.replace(/ \w+$/, ''), ...texts].join('\n'));
  const sections = [...groups.values()].map((group) => {
    const [{ place, texts }] = group as [(typeof changed)[number]];
    const type = typeOf(place);
    const isAll = group.length > 1 && [...news.keys()].filter((each) => typeOf(each) === type).length === group.length;
    const ids = group.map((each) => each.place.replace(/.* /, ''));
    const head = group.length === 1 ? place : `${place.replace(/ \w+$/, '')} ${isAll ? '*' : ids.join(', ')}`;
    return [head, ...texts];
  });
  return textOf(sections);
}

const textOf = (sections: readonly string[][]): string =>
  sections.map(([place, ...texts]) => [place, ...texts.map((text) => `  ${text}`), ''].join('\n')).join('');
