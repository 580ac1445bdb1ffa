import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { type FunctionProperties, modulePathOf } from '../../../infra/local/lambda/lambda.ts';
import { startSam } from '../../../infra/local/sam/start.ts';
import { functionName, samTemplate } from '../../../infra/local/sam/template.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { createFunction } from './functions.ts';

const directory = mkdtempSync(join(tmpdir(), 'sam-test-'));
const start = (options: Partial<Parameters<typeof startSam>[0]> = {}) =>
  startSam({
    assembly: inject('assembly'),
    directory,
    databaseEndpoint: databaseEndpoint(),
    addresses: ['127.0.0.1', '127.0.0.2'],
    host: '127.0.0.1',
    port: 0,
    tablePrefix: `sam-${crypto.randomUUID()}-`,
    ...options,
  });
let sam: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  sam = await start();
});
afterAll(async () => {
  await sam.stop();
  rmSync(directory, { recursive: true, force: true });
});

const read = (name: string) => JSON.parse(readFileSync(join(directory, name), 'utf8'));

interface RawFunction {
  Type: string;
  Metadata: { SamResourceId: string };
  Properties: { Environment: { Variables: Record<string, unknown> } };
}
const templateFunctions = () =>
  Object.values<RawFunction>(read('template.json').Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');

describe('the services for sam local', () => {
  it('have a short name for every function, as in the README', () => {
    const names = templateFunctions().map(({ Metadata }) => Metadata.SamResourceId);
    expect(new Set(names).size).toBe(names.length);
    const readme = readFileSync('infra/local/README.md', 'utf8');
    const [, listed = ''] = /The functions are ([^.]+)\./.exec(readme) ?? [];
    expect([...listed.matchAll(/\w+/g)].map(([name]) => name).sort()).toEqual(names.toSorted());
    const typed = [...readme.matchAll(/sam local invoke (\w+)/g)].map(([, name]) => name);
    expect(typed.length).toBeGreaterThan(0);
    expect(names).toEqual(expect.arrayContaining(typed));
    // `sam local` reads the place of the code from the metadata of the CDK.
    const code = { 'aws:asset:path': 'asset', 'aws:asset:property': 'Code' };
    const [{ id = '' } = {}] = sam.template.ofType('AWS::Lambda::Function');
    const raw = { Resources: { [id]: { Type: 'AWS::Lambda::Function', Metadata: code, Properties: {} } } };
    const { Resources } = samTemplate(raw, sam.template, {}).template;
    expect(Resources[id]?.Metadata).toEqual({ ...code, SamResourceId: functionName(id) });
  });

  it('run a function with the environment variables that the template declares', async () => {
    const variables = read('env.json');
    for (const { Metadata, Properties } of templateFunctions())
      expect(Object.keys(Properties.Environment.Variables).sort()).toEqual(
        Object.keys(variables[Metadata.SamResourceId]).sort(),
      );
    const resource = sam.template
      .ofType<FunctionProperties>('AWS::Lambda::Function')
      .find(({ id }) => functionName(id) === 'CreateProject');
    if (!resource) throw new Error('The template has no function CreateProject');
    const bundle = `module.exports = require(${JSON.stringify(modulePathOf(sam.template, resource.properties))})`;
    const credentials = { AWS_REGION: 'us-east-1', AWS_SECRET_ACCESS_KEY: 'local' };
    const Environment = { Variables: { ...variables.CreateProject, ...credentials } };
    const fn = createFunction(bundle, { properties: { Handler: resource.properties.Handler, Environment } });
    expect(await fn.invoke({ name: 'Acme', email: 'ops@example.com' })).toMatchObject({ project: { name: 'Acme' } });
  });

  it('listen only on the given addresses', async () => {
    const emails = (host: string) =>
      fetch(sam.endpoints.url('emails').replace('127.0.0.1', host)).then((response) => response.json());
    const sent = [{ to: 'a@example.com' }];
    vi.spyOn(sam.ses, 'emails', 'get').mockReturnValue(sent as never);
    expect(await Promise.all(['127.0.0.1', '127.0.0.2'].map(emails))).toEqual([sent, sent]);
    await expect(emails('127.0.0.3')).rejects.toThrow();
  });
});
