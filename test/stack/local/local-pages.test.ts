import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startDemoReceiver } from '../../../infra/local/demo-receiver.ts';
import { LocalPages } from '../../../infra/local/local-pages.ts';
import { startMemoryDatabase } from '../../../infra/local/memory/server.ts';
import { Endpoints } from '../../../infra/local/services/endpoints.ts';
import { afterFile } from '../../support/after-file.ts';
import { listen } from '../../support/endpoints.ts';
import { FAST_DELAYS, request, useService } from '../../support/service.ts';

let pages: LocalPages;
const server = http.createServer((incoming, response) => void pages.respond(incoming, response));
const endpoints = new Endpoints('host.docker.internal');
const service = useService(FAST_DELAYS);

const calls: string[] = [];
const invoke = async (name: string, event: unknown) => {
  calls.push(name);
  if (name === 'Broken') throw new Error('There is no project prj_1');
  return { name, event };
};

beforeAll(async () => {
  pages = new LocalPages(`http://127.0.0.1:${await listen(server)}`, () => [{ to: ['a@example.com'] }], invoke);
  endpoints.add('emails', () => ({ body: '[]' }));
  await endpoints.listen(['127.0.0.1']);
});
afterAll(() => endpoints.close());

/** Sends a request with a Host header, and returns the status and the body. */
async function send(url: string, host: string, method = 'GET', body?: string, authorization?: string) {
  const headers = { Host: host, ...(authorization && { Authorization: authorization }) };
  const { status, text } = await request(url, method, '', { headers, ...(body !== undefined && { body }) });
  return [status, text];
}

const OWN = ['127.0.0.1:3000', 'LOCALHOST', '[::1]:3000'];
const FOREIGN = ['evil.example:3000', '127.0.0.1.evil.example', '127.0.0.2', 'localhost.evil.example'];

/** A web page can make its own host name resolve to 127.0.0.1. */
describe('the local stack', () => {
  const serviceUrl = () => endpoints.url('emails').replace('host.docker.internal', '127.0.0.1');

  it.each(OWN)('responds to requests for the host %s', async (host) => {
    expect(await send(pages.mailUrl, host)).toEqual([200, '[{"to":["a@example.com"]}]']);
    expect(await send(serviceUrl(), host)).toEqual([200, '[]']);
  });

  it.each(FOREIGN)('rejects requests for the host %s', async (host) => {
    const [url = '', ticket = ''] = pages.signInUrl('svc_admin_1').split('#');
    expect(await send(pages.mailUrl, host)).toEqual([403, '']);
    expect(await send(url, host, 'POST', ticket)).toEqual([403, '']);
    expect(await send(serviceUrl(), host)).toEqual([403, '']);
    expect(await send(await startDatabase(), host, 'POST', '{}')).toEqual([403, '']);
  });

  it('responds to a container that names the host of Docker only with its services', async () => {
    expect(await send(serviceUrl(), 'host.docker.internal:3002')).toEqual([200, '[]']);
    expect(await send(pages.mailUrl, 'host.docker.internal:3002')).toEqual([403, '']);
  });
});

async function startDatabase(): Promise<string> {
  const { endpoint, stop } = await startMemoryDatabase();
  afterFile(stop);
  return endpoint;
}

async function startEndpoint(): Promise<string> {
  const { url, close } = await startDemoReceiver('secret', 0, () => {});
  afterFile(close);
  return url;
}

it.each<[name: string, url: () => string | Promise<string>]>([
  ['API', () => `${service.stack.baseUrl}/v1/events`],
  ['page for the sign-in', () => service.stack.signInUrl('svc_admin_1')],
  ['services', () => service.stack.endpoints.url('s3')],
  ['database in memory', startDatabase],
  ['demo endpoint', startEndpoint],
])('the server of the %s continues when a client disconnects', async (_, urlOf) => {
  const rejected = vi.fn();
  process.on('unhandledRejection', rejected);
  onTestFinished(() => void process.off('unhandledRejection', rejected));
  const url = new URL(await urlOf());
  const socket = net.connect(Number(url.port), url.hostname);
  const lines = [`POST ${url.pathname} HTTP/1.1`, `Host: ${url.host}`, 'Content-Length: 10'];
  socket.write(`${lines.join('\r\n')}\r\n\r\na`, () => socket.destroy());
  await once(socket, 'close');
  for (let i = 0; i < 3; i++) await request(url.origin, 'POST', url.pathname, { body: {} });
  expect(rejected).not.toHaveBeenCalled();
});

it('reports the requests to services that AWS would reject', async () => {
  const rejected: string[] = [];
  endpoints.rejected = (request) => void rejected.push(request);
  endpoints.add('sqs', () => ({ body: '{}' }));
  endpoints.add('dynamodb', () => ({ status: 400, body: '{"__type":"a#ValidationException"}' }));
  const body = { TableName: 'table', Key: { pk: { S: 'p' } } };
  for (const [service, target] of Object.entries({
    sqs: 'AmazonSQS.SendMessageBatch',
    dynamodb: 'DynamoDB_20120810.GetItem',
  }))
    await request(endpoints.url(service).replace('host.docker.internal', '127.0.0.1'), 'POST', '', {
      headers: { 'X-Amz-Target': target },
      body,
    });
  expect(rejected).toEqual([expect.stringMatching(/^sqs /), expect.stringMatching(/^dynamodb /)]);
});

describe('a sign-in link', () => {
  it('returns the key once for its ticket', async () => {
    const link = pages.signInUrl('svc_admin_1');
    const [url = '', ticket = ''] = link.split('#');
    const { pathname } = new URL(url);
    expect(link).not.toContain('svc_admin_1');
    expect(pages.signInUrl('svc_admin_1')).not.toBe(link);
    for (const wrong of ['', 'x', 'x'.repeat(1000), `${ticket}x`, 'null']) {
      expect(await send(url, 'localhost', 'POST', wrong)).toEqual([404, '']);
    }
    const page = await fetch(url);
    expect([page.status, page.headers.get('Cache-Control')]).toEqual([200, 'no-store']);
    expect(page.headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; /);
    const headers = { host: 'localhost' };
    const statuses: number[] = [];
    for (const _ of [1, 2]) {
      const incoming = Object.assign(Readable.from([Buffer.from(ticket)]), { method: 'POST', url: pathname, headers });
      const response = new http.ServerResponse(incoming as never); // its client does not read it
      await pages.respond(incoming as never, response);
      statuses.push(response.statusCode);
    }
    expect(statuses).toEqual([200, 404]);
  });
});

describe('an invocation of a function', () => {
  const invokeUrl = (name: string) => pages.mailUrl.replace('mail', `functions/${name}`);
  const token = () => `Bearer ${pages.invokeToken}`;
  const call = (
    name: string,
    authorization?: string,
    method = 'POST',
    host = 'localhost',
    body = '{"operation":"list"}',
  ) => send(invokeUrl(name), host, method, method === 'POST' ? body : undefined, authorization);

  it('returns the result or the error of the function', async () => {
    const result = { name: 'Projects', event: { operation: 'list' } };
    expect(await call('Projects', token())).toEqual([200, JSON.stringify(result)]);
    expect(await call('Broken', token())).toEqual([502, '{"message":"There is no project prj_1"}']);
  });

  it.each([
    ['no JSON', '{"operation":'],
    ['nothing', ''],
  ])('is rejected with a body of %s', async (_, body) => {
    const invoked = calls.length;
    const [status, text] = await call('Projects', token(), 'POST', 'localhost', body);
    expect([status, text, calls.length]).toEqual([502, expect.stringContaining('JSON'), invoked]);
  });

  it('is rejected without the token, which a web page cannot know', async () => {
    for (const wrong of [undefined, 'Bearer x', `${token()}x`, pages.invokeToken])
      expect(await call('Projects', wrong)).toEqual([403, '']);
    expect(await call('Projects', token(), 'GET')).toEqual([403, '']);
    expect(await call('Projects', token(), 'POST', 'evil.example')).toEqual([403, '']);
  });
});
