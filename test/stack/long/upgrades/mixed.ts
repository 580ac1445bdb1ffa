import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
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
export async function failedStarts({ code, variables }: { code: string; variables: string }): Promise<string[]> {
  const functionsOf = (assembly: string) => readTemplate(assembly).ofType<FunctionProperties>('AWS::Lambda::Function');
  const others = new Map(functionsOf(variables).map(({ id, properties }) => [id, properties.Environment?.Variables]));
  const failures: string[] = [];
  for (const { id, properties } of functionsOf(code)) {
    if (!others.has(id)) continue;
    const worker = new Worker(modulePathOf({ directory: code }, properties), { env: others.get(id) ?? {} });
    const [status] = await once(worker, 'exit').catch((error) => [error]);
    if (status !== 0) failures.push(`${id}: ${status}`);
  }
  return failures;
}
