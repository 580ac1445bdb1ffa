import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { type FunctionProperties, modulePathOf } from '../../../infra/local/lambda/lambda.ts';
import { listenAddresses } from '../../../infra/local/sam/addresses.ts';
import { startSam } from '../../../infra/local/sam/start.ts';
import { functionName } from '../../../infra/local/sam/template.ts';
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
    expect(await Promise.all(['127.0.0.1', '127.0.0.2'].map(emails))).toEqual([[], []]);
    await expect(emails('127.0.0.3')).rejects.toThrow();
  });

  it('write nothing if they cannot start', async () => {
    const own = mkdtempSync(join(directory, 'failed-'));
    writeFileSync(join(own, 'template.json'), '{}'); // of an earlier start
    const port = Number(new URL(sam.endpoints.url('')).port);
    await expect(start({ directory: own, port })).rejects.toThrow('EADDRINUSE');
    expect(readdirSync(own)).toEqual([]);
  });

  it('use loopback and the bridge of Docker, also before the first container', () => {
    const path = mkdtempSync(join(directory, 'path-'));
    vi.stubEnv('PATH', path);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(listenAddresses()).toEqual(['127.0.0.1']);
    const shown = '5: docker0    inet 172.17.0.1/16 brd 172.17.255.255 scope global docker0';
    const ip = `#!/bin/sh\n[ "$*" = '-4 -o address show docker0' ] && echo '${shown}'\n`;
    writeFileSync(join(path, 'ip'), ip, { mode: 0o755 });
    expect(listenAddresses()).toEqual(['127.0.0.1', '172.17.0.1']);
  });
});
