import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FunctionProperties } from '../../../infra/local/lambda/lambda.ts';
import { CONTAINER_HOST } from '../../../infra/local/sam/addresses.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { freePort } from '../../support/endpoints.ts';
import { startProgram } from '../../support/npm-start.ts';
import { eventually } from '../../support/service.ts';
import { createFunction } from './functions.ts';
import { isRunning, LOOPBACK, listeningAddresses, processesOf } from './processes.ts';

const directory = temporaryDirectory();
const readme = readFileSync('infra/local/README.md', 'utf8');
/** The bridge of Docker on this machine. */
const BRIDGE = '127.0.0.2';

let program: ReturnType<typeof startProgram>;
let output: string;
let port: number;
beforeAll(async () => {
  port = await freePort();
  const path = temporaryDirectory();
  writeFileSync(join(path, 'ip'), `#!/bin/sh\necho 'inet ${BRIDGE}/8'\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${path}:${process.env.PATH}` };
  const options = ['--port', String(port), '--api-port', '4000', '--directory', directory];
  program = startProgram([process.execPath, 'infra/local/sam.ts', ...options], env);
  output = await program.ready();
});

interface RawFunction {
  Type: string;
  Metadata: { SamResourceId: string; 'aws:asset:path': string; 'aws:asset:property': string };
  Properties: FunctionProperties;
}
function functions(): RawFunction[] {
  const [, file = ''] = /"-t (\S+) /.exec(output) ?? [];
  const resources = Object.values<RawFunction>(JSON.parse(readFileSync(file, 'utf8')).Resources);
  return resources.filter(({ Type }) => Type === 'AWS::Lambda::Function');
}
function variables(): Record<string, Record<string, string>> {
  const [, file = ''] = / --env-vars (\S+) /.exec(output) ?? [];
  return JSON.parse(readFileSync(file, 'utf8'));
}

describe('the services for sam local', () => {
  it('have a short name for every function, as in the README', () => {
    const names = functions().map(({ Metadata }) => Metadata.SamResourceId);
    expect(new Set(names).size).toBe(names.length);
    const [, listed = ''] = /The functions are ([^.]+)\./.exec(readme) ?? [];
    expect([...listed.matchAll(/\w+/g)].map(([name]) => name).sort()).toEqual(names.toSorted());
    expect(output).toContain(`functions   ${names.join(', ')}\n`);
    const typed = [...(readme + output).matchAll(/sam local invoke (\w+)/g)].map(([, name]) => name);
    expect(typed).toHaveLength(2);
    expect(names).toEqual(expect.arrayContaining(typed));
  });

  it('declare every variable of a function, except those that sam local sets', () => {
    for (const { Metadata, Properties } of functions()) {
      const names = Object.keys(variables()[Metadata.SamResourceId] ?? {});
      expect(Object.keys(Properties.Environment?.Variables ?? {}).sort()).toEqual(names.sort());
      expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/^AWS_(?!ENDPOINT_URL_)/)]));
    }
  });

  it('tell the functions the port of the API, for their links', () => {
    expect(variables().Keys).toMatchObject({ BASE_URL: 'http://127.0.0.1:4000' });
    expect(output).toContain('sam local start-api $SAM --port 4000 ');
  });

  it('run every function from the code that the template names', async () => {
    for (const { Metadata } of functions()) {
      expect(Metadata['aws:asset:property']).toBe('Code'); // `sam local` reads the place of the code
      expect(existsSync(join(directory, Metadata['aws:asset:path'], 'index.cjs'))).toBe(true);
    }
    const create = functions().find(({ Metadata }) => Metadata.SamResourceId === 'CreateProject') as RawFunction;
    const given = JSON.stringify(variables().CreateProject);
    expect(given).toContain(`"http://${CONTAINER_HOST}:${port}/dynamodb"`);
    const Variables = JSON.parse(given.replaceAll(CONTAINER_HOST, BRIDGE));
    const credentials = { AWS_REGION: 'us-east-1', AWS_SECRET_ACCESS_KEY: 'local' };
    const code = join(directory, create.Metadata['aws:asset:path'], 'index.cjs');
    const fn = createFunction(`module.exports = require(${JSON.stringify(code)})`, {
      properties: { Handler: create.Properties.Handler, Environment: { Variables: { ...Variables, ...credentials } } },
    });
    expect(await fn.invoke({ name: 'Acme', email: 'ops@example.com' })).toMatchObject({ project: { name: 'Acme' } });
  });

  it('list the emails', async () => {
    const email = {
      Source: 'a@example.com',
      'Destination.ToAddresses.member.1': 'b@example.com',
      'Message.Subject.Data': 'Hello',
      'Message.Body.Text.Data': 'Text',
    };
    const body = new URLSearchParams({ Action: 'SendEmail', ...email });
    await fetch(`http://127.0.0.1:${port}/ses`, { method: 'POST', body });
    const [, url = ''] = /emails {6}(\S+)/.exec(output) ?? [];
    expect(await (await fetch(url)).json()).toMatchObject([{ to: 'b@example.com', subject: 'Hello' }]);
  });

  it('listen only on loopback and the bridge of Docker, and end with Ctrl-C', async () => {
    const pids = processesOf(program.pid);
    expect(listeningAddresses(pids).sort()).toEqual([LOOPBACK, LOOPBACK, '0200007F']);
    expect((await program.stop()).code).toBe(0);
    await eventually(() => !pids.some(isRunning));
  });
});
