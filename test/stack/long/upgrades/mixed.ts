import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FunctionProperties, modulePathOf } from '../../../../infra/local/lambda/lambda.ts';
import { temporaryDirectory } from '../../../support/after-file.ts';
import { readTemplate } from '../../local/gateway.ts';

interface RawResource {
  Type: string;
  Properties?: Record<string, unknown>;
}
export type Resources = Record<string, RawResource>;

const TEMPLATE = 'DocumentSyncService.template.json';

export const resourcesOf = (assembly: string): Resources =>
  JSON.parse(readFileSync(join(assembly, TEMPLATE), 'utf8')).Resources;

/** The functions that read queues and streams. The others serve the API. */
export function consumersOf(resources: Resources): Set<string> {
  const mappings = Object.values(resources).filter(({ Type }) => Type === 'AWS::Lambda::EventSourceMapping');
  return new Set(mappings.map(({ Properties }) => (Properties?.FunctionName as { Ref: string }).Ref));
}

/**
 * Writes an assembly in the middle of a deployment: the template of `base`, in which some functions still have the code and the
 * variables of `other`. CloudFormation changes functions one after another, and their policies before them. With `bothPolicies`,
 * each function has the permissions of both releases.
 */
export function mixed(
  base: string,
  other: string,
  isOther: (functionId: string) => boolean,
  { bothPolicies = false } = {},
): string {
  const directory = temporaryDirectory();
  for (const name of [base, other].flatMap((assembly) => readdirSync(assembly).map((name) => join(assembly, name)))) {
    const link = join(directory, name.split('/').at(-1) ?? '');
    if (!existsSync(link) && !link.endsWith(TEMPLATE)) symlinkSync(name, link);
  }
  const others = resourcesOf(other);
  const entries = Object.entries(resourcesOf(base)).map(([id, resource]) => {
    const found = others[id];
    if (found?.Type !== resource.Type) return [id, resource];
    if (resource.Type === 'AWS::Lambda::Function') return [id, isOther(id) ? found : resource];
    return [id, resource.Type === 'AWS::IAM::Policy' && bothPolicies ? withBoth(resource, found) : resource];
  });
  writeFileSync(join(directory, TEMPLATE), JSON.stringify({ Resources: Object.fromEntries(entries) }));
  return directory;
}

function withBoth(policy: RawResource, other: RawResource): RawResource {
  const statements = [policy, other].flatMap(({ Properties }) => {
    const { Statement } = Properties?.PolicyDocument as { Statement: object[] };
    return Statement;
  });
  return { ...policy, Properties: { ...policy.Properties, PolicyDocument: { Statement: statements } } };
}

/** Loads the code of each function with the variables of another release. Returns the errors. */
export function failedStarts({ code, variables }: { code: string; variables: string }): string[] {
  const functionsOf = (assembly: string) => readTemplate(assembly).ofType<FunctionProperties>('AWS::Lambda::Function');
  const others = new Map(functionsOf(variables).map(({ id, properties }) => [id, properties.Environment?.Variables]));
  return functionsOf(code).flatMap(({ id, properties }) => {
    if (!others.has(id)) return [];
    const load = ['-e', 'require(process.argv[1])', modulePathOf({ directory: code }, properties)];
    const { status, stderr } = spawnSync(process.execPath, load, { encoding: 'utf8', env: others.get(id) ?? {} });
    return status === 0 ? [] : [`${id}: ${/^\w*Error: .*/m.exec(stderr)?.[0] ?? stderr}`];
  });
}
