import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { ops } from '../../../infra/commands/ops.ts';
import { checks } from '../../../infra/commands/smoke/checks.ts';
import type { Received } from '../../../infra/commands/smoke/run.ts';
import { CLEAN_UP, runChecks } from '../../../infra/commands/smoke/smoke.ts';
import { type LocalReceiver, startLocalReceiver } from '../../../infra/local/receiver.ts';
import type { SentEmail } from '../../../infra/local/services/ses.ts';
import { afterFile } from '../../support/after-file.ts';
import { freePort } from '../../support/endpoints.ts';
import { type Breakage, startProxy } from '../../support/proxy.ts';
import { createWebhook } from '../../support/requests.ts';
import { type Project, useService } from '../../support/service.ts';
import { ran } from '../../support/shell.ts';
import { stackPerformers } from '../../support/stack-performers.ts';

// A test waits until a lease expires, so the time of the stack passes ten times as fast.
const service = useService({ speed: 10 });
const pem = (name: string) => readFileSync(new URL(`../../support/certificates/${name}.pem`, import.meta.url), 'utf8');
const TLS = 'TLS: accepts 1.3 and rejects 1.2';
const REVOKED = 'Authorizer: an allowlist and a revocation apply to the next request';
const SIGNED = 'Delivery: the signed events of a document and of an expired lease arrive';
tls.setDefaultCACertificates([...tls.getCACertificates(), pem('authority')]);
const received: Received[] = [];
let receiver: LocalReceiver;
beforeAll(async () => {
  const timer = setInterval(() => service.stack.clock.advance(900), 100);
  receiver = await startLocalReceiver(0, '', ({ headers }, body) => {
    received.push({ headers, body });
    return 204;
  });
  afterFile(() => {
    clearInterval(timer);
    receiver.close();
  });
});

interface Broken {
  service?: Breakage;
  tunnel?: Breakage;
}

/** Runs a check against the stack, with a broken proxy in front of the service or the receiver. `name` is the result. */
async function outcomeOf(subject: string, { service: broken, tunnel }: Broken, name = subject) {
  const { adminKey: key } = await service.project();
  const run = runChecks(
    checks.filter((check) => check.name === subject),
    { key, baseUrl: await startProxy(service.stack.baseUrl, broken) },
    {
      receiver: { url: await startProxy(`http://127.0.0.1:${receiver.port}`, tunnel), received },
      signal: new AbortController().signal,
    },
  );
  let outcome: object | undefined;
  for await (const result of run) if (result.name === name) outcome = result;
  return outcome;
}

/** Returns the ids of the resources that a run left in its project. */
async function leftBy({ admin }: Project) {
  const { body: keys } = await admin('GET', '/v1/keys');
  const { body: webhooks } = await admin('GET', '/v1/webhooks?environment=sandbox');
  const { body: documents } = await admin('GET', '/v1/documents?environment=sandbox');
  const working = keys.data.filter(
    ({ status, type }: Record<string, string>) => status !== 'revoked' && type !== 'admin',
  );
  return [...working, ...webhooks.data, ...documents.data].map(({ id, document_key }) => id ?? document_key);
}

describe('npm run ops -- smoke', () => {
  it('passes every check of a stack, sends an email, and leaves only what was there before', async () => {
    const project = await service.project();
    const test = await project.client('test');
    // Of another run, at the same time.
    await createWebhook(test, `http://127.0.0.1:${receiver.port}`, { description: 'smoke-other' });
    await test('PUT', '/v1/documents/smoke-other', { body: { fields: {} } });
    await project.admin('POST', '/v1/keys', { body: { type: 'live', name: 'smoke-other' } });
    const before = await leftBy(project);
    const port = await freePort();
    const args = ['--receiver', `http://127.0.0.1:${port}/hook`, '--listen', `${port}`];
    const { status, stdout } = await ran(
      ops,
      ['smoke', '--stack', 'Service', '--key', project.adminKey, ...args],
      stackPerformers(service.stack),
    );
    expect(stdout).toContain(`\n${checks.length} passed, 0 failed, 1 skipped\n`);
    expect(stdout).toMatch(/skipped\s+TLS: accepts 1.3/);
    expect(status).toBe(0);
    expect(before).toHaveLength(4);
    expect(await leftBy(project)).toEqual(before);
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
    const emails = (await (await fetch(service.stack.mailUrl)).json()) as SentEmail[];
    expect(emails.filter(({ to }) => to.includes(project.email))).toHaveLength(1);
  });

  it('causes every kind of problem that AWS can break, and fails when a check fails', async () => {
    const { adminKey } = await service.project();
    const codes = new Set<string>();
    const response: Breakage['response'] = (response) => {
      if (response.status >= 400) codes.add(JSON.parse(String(response.body)).code);
      if (response.status === 413) response.body = Buffer.from('\u009b2J');
    };
    const args = ['smoke', '--key', adminKey, '--base-url', await startProxy(service.stack.baseUrl, { response })];
    const { status, stdout } = await ran(ops, args);
    expect([status, stdout]).toEqual([1, expect.stringContaining(' passed, 2 failed, 2 skipped\n')]);
    expect(stdout).toContain(`servers: [{"url":"${service.stack.baseUrl}"}] instead of`); // links do not lead to the proxy
    const ofGateway = ['unauthorized', 'insufficient_permissions', 'route_not_found', 'payload_too_large'];
    const ofFunctions = ['method_not_allowed', 'ip_not_allowed', 'document_not_allowed'];
    expect([...codes].sort()).toEqual([...ofGateway, ...ofFunctions].sort());
    expect(stdout).toContain('\\u009b2J');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('cleans up all pages of resources after %s', async (interruption) => {
    const request: Breakage['request'] = (request) => {
      request.path = request.path.replace('limit=100', 'limit=1');
    };
    const project = await service.project();
    let printed = '';
    const print = (text: string) => {
      printed += text;
      if (text.includes('an allowlist')) process.emit(interruption);
    };
    const variables = { DOCUMENT_SYNC_KEY: project.adminKey };
    const args = ['smoke', '--base-url', await startProxy(service.stack.baseUrl, { request })];
    const { status } = await ran(ops, args, {}, { print, variables });
    expect(printed).toMatch(/interrupted[\s\S]*passed +Deletes the resources/);
    expect(status).toBe(1);
    expect(await leftBy(project)).toEqual([]);
  });
});

describe('a check fails', () => {
  const isOn = (method: string, path: RegExp) => (request: { method: string; path: string }) =>
    request.method === method && path.test(request.path);

  it('when API Gateway returns its own error', async () => {
    const response: Breakage['response'] = (response, request) => {
      if (isOn('GET', /nothing$/)(request)) response.body = Buffer.from('{"message":"Missing Authentication Token"}');
    };
    expect(await outcomeOf('Gateway: rejects requests with documented problems', { service: { response } })).toEqual({
      name: 'Gateway: rejects requests with documented problems',
      outcome: 'failed',
      reason: expect.stringContaining('GET /v1/nothing: code is missing, not route_not_found'),
    });
  });

  it.each([
    ['Gateway: sends security headers, and compresses responses', 'Strict-Transport-Security'],
    ['Gateway: sends security headers, and compresses responses', 'X-Content-Type-Options'],
    ['Gateway: sends security headers, and compresses responses', 'Cache-Control'],
    ['Gateway: pages of any origin can call operations for tokens', 'Access-Control-Allow-Origin'],
    ['Gateway: pages of any origin can call operations for tokens', 'Access-Control-Allow-Headers'],
    ['Pages: load with all of their files from the base URL', 'Content-Security-Policy'],
  ])('when a header is missing: "%s" without %s', async (name, header) => {
    const response: Breakage['response'] = ({ headers }) => void delete headers[header.toLowerCase()];
    const reason = expect.stringContaining(`${header} is missing, not `);
    expect(await outcomeOf(name, { service: { response } })).toMatchObject({ outcome: 'failed', reason });
  });

  it('when a revoked key still works', async () => {
    const request: Breakage['request'] = (request) => {
      if (!isOn('POST', /\/revoke$/)(request)) return;
      Object.assign(request, { method: 'GET', path: request.path.replace('/revoke', ''), body: Buffer.alloc(0) });
    };
    const reason = expect.stringContaining('GET /v1/documents: 200 instead of 401');
    expect(await outcomeOf(REVOKED, { service: { request } })).toMatchObject({ outcome: 'failed', reason });
  });

  it('when the tunnel changes the last delivery', async () => {
    const request: Breakage['request'] = (request) => {
      if (request.body.includes('connection.lost')) request.body = Buffer.from(`${request.body} `);
    };
    const reason = expect.stringContaining('is not the signature of the body');
    expect(await outcomeOf(SIGNED, { tunnel: { request } })).toMatchObject({ outcome: 'failed', reason });
  });

  it.each([
    ['delete', 'DELETE', / may be left: DELETE \/v1\/webhooks\/.*: 500.*; DELETE \/v1\/documents\/.*: 500/],
    ['list', 'GET', / may be left: GET \/v1\/webhooks: 500.*; GET \/v1\/documents: 500/],
  ])('when the clean-up cannot %s resources, of which it tries every one', async (_, method, reason) => {
    const revoked: number[] = [];
    const response: Breakage['response'] = (response, request) => {
      if (isOn(method, /^\/v1\/(webhooks|documents).*[?&]environment=sandbox/)(request)) response.status = 500;
      if (isOn('POST', /\/revoke$/)(request)) revoked.push(response.status);
    };
    expect(await outcomeOf(SIGNED, { service: { response } }, CLEAN_UP)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(reason),
    });
    expect(revoked).toEqual([200]); // the key of the run
  });

  it.each([
    ['passed', { minVersion: 'TLSv1.3' }, ''],
    ['failed', { minVersion: 'TLSv1.2' }, 'TLS 1.2: accepted'],
    ['failed', { maxVersion: 'TLSv1.2' }, 'TLS 1.3: '],
  ] as const)('unless TLS is right: it %s with %j', async (outcome, versions, reason) => {
    const certificate = { key: pem('key'), cert: pem('valid') };
    const baseUrl = await startProxy(service.stack.baseUrl, {}, { ...certificate, ...versions });
    const result = await checks
      .find(({ name }) => name === TLS)
      ?.run({ baseUrl } as never)
      .then(
        () => ['passed', ''],
        ({ message }: Error) => ['failed', message],
      );
    expect(result).toEqual([outcome, expect.stringContaining(reason)]);
  });
});
