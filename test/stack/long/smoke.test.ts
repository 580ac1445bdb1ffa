import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checks } from '../../../infra/commands/smoke/checks/all.ts';
import { type Receiver, startReceiver } from '../../../infra/commands/smoke/receiver.ts';
import { BEGIN, CLEAN_UP, type Options, type Result, smoke } from '../../../infra/commands/smoke/run.ts';
import { freePort } from '../../support/endpoints.ts';
import { type Project, useService } from '../../support/service.ts';
import { SERVICE_BREAKAGES, TUNNEL_BREAKAGES } from './smoke/breakages.ts';
import { type Breakage, startProxy } from './smoke/proxy.ts';

// The longest test waits until a lease expires. Many others take a second on an idle machine.
const service = useService();
const pem = (name: string) => readFileSync(new URL(`../../support/certificates/${name}.pem`, import.meta.url), 'utf8');
const TLS = 'TLS: accepts 1.3 and rejects 1.2';
const stops: (() => void)[] = [];
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver(0);
});
afterAll(() => {
  receiver.close();
  for (const stop of stops) stop();
});

async function proxied(...args: Parameters<typeof startProxy>): Promise<string> {
  const { url, close } = await startProxy(...args);
  stops.push(close);
  return url;
}

/** Runs the checks with one name against the stack, with a broken proxy in front of the service or the receiver. */
async function run(name: string, { service: broken, tunnel, ...options }: Partial<Options> & Broken = {}) {
  const { adminKey } = await service.project();
  return smoke(
    checks.filter((check) => check.name === name),
    {
      adminKey,
      baseUrl: await proxied(service.stack.baseUrl, broken),
      receiver: { url: await proxied(`http://127.0.0.1:${receiver.port}`, tunnel), at: receiver },
      deliveryTimeoutMs: 30_000,
      signal: new AbortController().signal,
      ...options,
    },
    () => {},
  );
}
interface Broken {
  service?: Breakage;
  tunnel?: Breakage;
}
const of = (results: Result[], name: string) => results.find((result) => result.name === name);

/** Returns the resources that a run left in its project. */
async function leftBy({ admin }: Project) {
  const { body: keys } = await admin('GET', '/v1/keys');
  const { body: webhooks } = await admin('GET', '/v1/webhooks?environment=sandbox');
  const { body: documents } = await admin('GET', '/v1/documents?environment=sandbox');
  const working = keys.data.filter(
    ({ status, type }: Record<string, string>) => status !== 'revoked' && type !== 'admin',
  );
  return [...working, ...webhooks.data, ...documents.data];
}

/** Runs `npm run smoke` until it ends. `seen` receives the output so far. */
async function start(
  args: string[],
  seen: (printed: string, kill: () => void) => void = () => {},
  env: NodeJS.ProcessEnv = {},
) {
  const child = spawn(process.execPath, ['infra/commands/smoke/main.ts', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk;
      seen(printed, () => child.kill('SIGINT'));
    });
  }
  const [code] = await once(child, 'close');
  return { code, printed };
}

describe('npm run smoke', () => {
  it('passes every check and leaves nothing behind', async () => {
    const project = await service.project();
    const port = await freePort();
    const args = ['--base-url', `${service.stack.baseUrl}/`, '--admin-key', project.adminKey];
    const { code, printed } = await start([
      ...args,
      '--receiver',
      `http://127.0.0.1:${port}/hook`,
      '--listen',
      `${port}`,
    ]);
    expect(printed).toContain(`\n${checks.length + 1} passed, 0 failed, 1 skipped`);
    expect(printed).toMatch(/skipped\s+TLS: accepts 1.3/);
    expect(code).toBe(0);
    expect(await leftBy(project)).toEqual([]);
    expect((await project.admin('GET', '/v1/documents')).body.data).toEqual([]);
  });

  it('cleans up when it is interrupted', async () => {
    const project = await service.project();
    const args = ['--base-url', service.stack.baseUrl];
    const interrupt = (printed: string, kill: () => void) => {
      if (printed.includes('Tokens: can read') && !printed.includes('Cleaning up')) kill();
    };
    const { code, printed } = await start(args, interrupt, { DOCUMENT_SYNC_KEY: project.adminKey });
    expect(printed).toContain('interrupted');
    expect(printed).toContain(`passed   ${CLEAN_UP}`);
    expect(code).toBe(1);
    expect(await leftBy(project)).toEqual([]);
  });

  it.each([
    [[], '--base-url'],
    [['--base-url', 'localhost'], '--base-url'],
    [['--base-url', 'http://127.0.0.1:1', '--admin-key', 'svc_live_1'], '--admin-key'],
    [['--base-url', 'http://127.0.0.1:1', '--admin-key', 'svc_admin_1', '--listen', '0'], '--listen'],
    [['--color'], '--color'],
  ])('prints the error with %j', async (args, named) => {
    const { code, printed } = await start(args);
    expect(printed).toContain(named);
    expect(code).toBe(1);
  });

  it('checks nothing without a valid key', async () => {
    const results = await run('Connections: open, renew, close', { adminKey: 'svc_admin_unknown' });
    expect(of(results, BEGIN)?.outcome).toBe('failed');
    expect(of(results, 'Connections: open, renew, close')?.outcome).toBe('skipped');
  });
});

describe('a check', () => {
  it('has a test in which it fails', () => {
    const shown = [TLS, ...[...SERVICE_BREAKAGES, ...TUNNEL_BREAKAGES].map(([name]) => name)];
    expect(new Set(shown)).toEqual(new Set([BEGIN, CLEAN_UP, ...checks.map(({ name }) => name)]));
  });

  it.each(SERVICE_BREAKAGES)('fails: %s', async (name, breakage, says) => {
    const subject = name === CLEAN_UP ? 'Documents: ETags guard reads and writes' : name;
    expect(of(await run(subject, { service: breakage }), name)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(says),
    });
  });

  it.each(TUNNEL_BREAKAGES)('fails: %s', async (name, breakage, says) => {
    const results = await run(name, { tunnel: breakage });
    expect(of(results, name)).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(says) });
    expect(of(results, CLEAN_UP)?.outcome).toBe('passed');
  });

  it.each([
    ['passed', { minVersion: 'TLSv1.3' }, ''],
    ['failed', { minVersion: 'TLSv1.2' }, 'TLS 1.2: accepted'],
    ['failed', { maxVersion: 'TLSv1.2' }, 'TLS 1.3: '],
  ] as const)('of TLS %s with %j', async (outcome, versions, reason) => {
    const certificate = { key: pem('key'), cert: pem('valid') };
    const baseUrl = await proxied(service.stack.baseUrl, {}, { ...certificate, ...versions });
    const result = of(await run(TLS, { baseUrl, ca: pem('authority') }), TLS);
    expect(result).toMatchObject({ outcome, reason: expect.stringContaining(reason) });
  });
});
