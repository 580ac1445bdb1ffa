import type { IncomingMessage } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { proxyEvent, type Received } from '../../../infra/local/gateway/proxy-event.ts';
import { findRoute, readRoutes } from '../../../infra/local/gateway/routes.ts';
import { readTemplate, startGateway } from './gateway.ts';
import { exchange } from './sockets.ts';

interface Given extends Partial<Received> {
  headers?: [string, string][];
  query?: string;
}

function event({ headers = [], query = '', ...received }: Given = {}) {
  const request = {
    method: 'POST',
    url: `/v1/events?${query}`,
    rawHeaders: headers.flat(),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    socket: { remoteAddress: '127.0.0.1' },
  } as unknown as IncomingMessage;
  const found = { route: { resource: '/v1/events' }, parameters: {} };
  const defaults = { body: Buffer.alloc(0), requestId: 'r', stage: 'live', now: 0, binaryMediaTypes: [] };
  return proxyEvent(request, found, { ...defaults, ...received });
}

const ILL_FORMED = Buffer.from([0x7b, 0xff, 0x7d]);

describe('names of query parameters and headers', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('accepts the name %s', (name) => {
    const made = event({ query: `${name}=1&${name}=2`, headers: [[name, 'a']] });
    expect(Object.entries(made.queryStringParameters ?? {})).toEqual([[name, '2']]);
    expect(Object.entries(made.multiValueQueryStringParameters ?? {})).toEqual([[name, ['1', '2']]]);
    expect(Object.entries(made.multiValueHeaders)).toContainEqual([name, ['a']]);
    expect(Object.entries(made.headers)).toContainEqual([name, 'a']);
  });
});

describe('a body', () => {
  const encoded = ILL_FORMED.toString('base64');

  it.each([
    [true, 'application/json', ['application/json']],
    [true, 'Application/JSON; charset=utf-8', ['application/json']],
    [true, 'image/png', ['image/*']],
    [false, 'application/json', []],
    [false, 'application/json-patch', ['application/json']],
    [false, 'text/json', ['application/json']],
  ])('is Base64 (%s), or text with U+FFFD, for the type "%s" with the binary types %j', (isBase64, type, binaryMediaTypes) => {
    const made = event({ body: ILL_FORMED, headers: [['Content-Type', type]], binaryMediaTypes });
    expect([made.body, made.isBase64Encoded]).toEqual([isBase64 ? encoded : '{\ufffd}', isBase64]);
  });
});

describe('the gateway', () => {
  const post = (more = '') => `POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: x\r\nConnection: close\r\n${more}`;
  const body = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

  /** The event of a request. */
  async function eventOf(text: string, BinaryMediaTypes?: string[]) {
    const invoke = vi.fn(() => ({ statusCode: 200, body: '' }));
    const { port } = await startGateway({ invoke, properties: { 'AWS::ApiGateway::RestApi': { BinaryMediaTypes } } });
    await exchange(port, text);
    return invoke.mock.lastCall;
  }

  it.each([
    [['application/json'], { body: 'e30=', isBase64Encoded: true }],
    [undefined, { body: '{}', isBase64Encoded: false }],
  ])('reads the binary media types of the template: %j', async (types, expected) => {
    expect(await eventOf(post(body), types)).toMatchObject([expected]);
  });

  it('passes path parameters unchanged', () => {
    const found = findRoute(readRoutes(readTemplate()), 'GET', '/v1/documents/a%253Ab%');
    expect(found?.parameters).toEqual({ key: 'a%253Ab%' });
  });
});
