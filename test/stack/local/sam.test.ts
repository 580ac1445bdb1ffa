import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { listenAddresses } from '../../../infra/local/sam/addresses.ts';
import { startFunctions } from '../../../infra/local/sam/functions.ts';
import { tableItems } from '../../../infra/local/sam/items.ts';
import { startSam } from '../../../infra/local/sam/start.ts';
import { readText } from '../../../infra/local/services/bodies.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { freePort } from '../../support/endpoints.ts';
import { eventually } from '../../support/service.ts';

const directory = mkdtempSync(join(tmpdir(), 'sam-test-'));
const endpoint = databaseEndpoint();
const printed: string[] = [];
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Starts the services of `npm run sam:services`, with functions outside containers. */
async function start(options: Partial<Parameters<typeof startSam>[0]> = {}) {
  const sam = await startSam({
    assembly: inject('assembly'),
    directory,
    databaseEndpoint: endpoint,
    addresses: ['127.0.0.1'],
    host: '127.0.0.1',
    port: 0,
    tablePrefix: `sam-${crypto.randomUUID()}-`,
    print: (line) => void printed.push(line),
    ...options,
  });
  const functions = startFunctions(sam);
  stops.push(() => Promise.all([sam.stop(), functions.stop()]));
  return { ...sam, invoke: functions.invoke };
}

let sam: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  sam = await start({ addresses: ['127.0.0.1', '127.0.0.2'] });
});
const read = (name: string) => JSON.parse(readFileSync(join(directory, name), 'utf8'));
const sample = (name: string) => read(`events/${name}.json`);
const run = (name: string) => sam.invoke(name, sample(name));

interface RawFunction {
  Type: string;
  Metadata: { SamResourceId: string };
  Properties: { Environment: { Variables: Record<string, unknown> } };
}
const templateFunctions = () =>
  Object.values<RawFunction>(read('template.json').Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');

describe('the template for sam local', () => {
  it('has a short name for every function, as in the README', () => {
    const names = templateFunctions().map(({ Metadata }) => Metadata.SamResourceId);
    expect(new Set(names).size).toBe(names.length);
    const readme = readFileSync('infra/local/README.md', 'utf8');
    const [, listed = ''] = /The functions are ([^.]+)\./.exec(readme) ?? [];
    expect([...listed.matchAll(/\w+/g)].map(([name]) => name).sort()).toEqual(names.toSorted());
    const typed = [...readme.matchAll(/sam local invoke (\w+)/g)].map(([, name]) => name);
    expect(typed.length).toBeGreaterThan(0);
    expect(names).toEqual(expect.arrayContaining(typed));
  });

  it('declares every environment variable of the functions', () => {
    const variables = read('env.json');
    for (const { Metadata, Properties } of templateFunctions()) {
      const values = variables[Metadata.SamResourceId];
      expect(Object.keys(Properties.Environment.Variables).sort()).toEqual(Object.keys(values).sort());
      expect(values.AWS_ENDPOINT_URL_DYNAMODB).toBe(sam.endpoints.url('dynamodb'));
    }
  });

  it('is not written if the services cannot start', async () => {
    const own = mkdtempSync(join(directory, 'failed-'));
    writeFileSync(join(own, 'template.json'), '{}'); // of an earlier start
    const port = Number(new URL(sam.endpoints.url('')).port);
    await expect(start({ directory: own, port })).rejects.toThrow('EADDRINUSE');
    expect(readdirSync(own)).toEqual([]);
  });
});

describe('the sample event', () => {
  it('exists for every function', () => {
    const names = templateFunctions().map(({ Metadata }) => Metadata.SamResourceId);
    const samples = readdirSync(join(directory, 'events')).map((file) => file.replace('.json', ''));
    expect(samples.sort()).toEqual(names.sort());
  });

  it.each([
    ['Authorize', { policyDocument: { Statement: [{ Effect: 'Allow' }] } }],
    ['CreateProject', { project: { name: 'Acme' } }],
    ['Projects', { name: 'Acme', state: 'active' }],
    ['Keys', { statusCode: 201 }],
    ['Tokens', { statusCode: 201 }],
    ['Webhooks', { statusCode: 201 }],
    ['Events', { statusCode: 202 }],
    ['Documents', { statusCode: 201 }],
    ['Dashboard', { statusCode: 200 }],
  ])('for %s is handled', async (name, response) => {
    expect(await run(name)).toMatchObject(response);
  });

  it('for the fan-out is queued for its webhook', async () => {
    const ofDeliveries = [...sam.queues].filter(([id]) => id.endsWith('Deliveries')).map(([, queue]) => queue);
    const queued = () => ofDeliveries.reduce((sum, queue) => sum + queue.counts().visible, 0);
    const before = queued();
    expect(await run('DeliveryFanOut')).toEqual({ batchItemFailures: [] });
    expect(queued()).toBe(before + 1);
  });

  it('for stats is counted', async () => {
    expect(await run('StatsCount')).toEqual({ state: {} });
  });

  it.each([
    'DeliveryDeliver',
    'DeliveryDeliverNew',
    'DeliveryDeliverSlow',
  ])('for %s is posted and verified', async (name) => {
    const { eventId } = JSON.parse(sample(name).Records[0].body);
    expect(await run(name)).toEqual({ batchItemFailures: [] });
    expect(printed.find((line) => line.includes(eventId))).toMatch(/^✓ verified {2}document\.changed {2}attempt 1/);
  });

  it('for the check finds a lost connection', async () => {
    const { find } = tableItems(endpoint, sam.tableName);
    expect(await find('CONNECTION')).toBeDefined();
    expect(await run('ConnectionsCheck')).toEqual({ batchItemFailures: [] });
    await expect(find('CONNECTION')).rejects.toThrow('no item');
  });
});

describe('the services for sam local', () => {
  it('listen only on the given addresses', async () => {
    const emails = (host: string) =>
      fetch(sam.endpoints.url('emails').replace('127.0.0.1', host)).then((r) => r.json());
    expect(await emails('127.0.0.1')).toEqual([]);
    expect(await emails('127.0.0.2')).toEqual([]);
    await expect(emails('127.0.0.3')).rejects.toThrow();
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

  it('reject an invalid port', () => {
    const args = ['infra/local/sam.ts', '--port', '0'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, '--port must be an integer from 1 to 65535.\n']);
  });
});

describe('the pipeline', () => {
  it('invokes containers when they run, and again after an error', async () => {
    const port = await freePort();
    const own = mkdtempSync(join(directory, 'pipeline-'));
    const { invoke } = await start({ startLambdaUrl: `http://127.0.0.1:${port}`, directory: own });
    const event = JSON.parse(readFileSync(join(own, 'events', 'Events.json'), 'utf8'));
    const { id } = JSON.parse((await invoke('Events', event)).body);
    const failing = new Set(['DeliveryFanOut']);
    const startLambda = http.createServer(async (request, response) => {
      const name = /^\/2015-03-31\/functions\/(\w+)\/invocations$/.exec(request.url ?? '')?.[1] ?? '';
      const event = JSON.parse(await readText(request));
      const fail = () => void response.setHeader('X-Amz-Function-Error', 'Unhandled').end('{}');
      if (failing.delete(name)) fail();
      else await invoke(name, event).then((result) => response.end(JSON.stringify(result)), fail);
    });
    await new Promise<void>((resolve) => startLambda.listen(port, '127.0.0.1', resolve));
    stops.push(async () => startLambda.close().closeAllConnections());
    expect(await eventually(() => printed.find((line) => line.includes(id)))).toMatch(/^✓ verified/);
    expect(failing.size).toBe(0);
  });
});
