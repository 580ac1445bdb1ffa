import type { IncomingMessage } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { proxyEvent, type Received } from '../../../infra/local/gateway/proxy-event.ts';
import { findRoute, readRoutes } from '../../../infra/local/gateway/routes.ts';
import { readTemplate, startGateway } from './gateway.ts';

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
    [false, 'application/json', []],
    [false, 'application/json-patch', ['application/json']],
    [false, 'text/json', ['application/json']],
  ])('is Base64 (%s), or text with U+FFFD, for the type "%s" with the binary types %j', (isBase64, type, binaryMediaTypes) => {
    const made = event({ body: ILL_FORMED, headers: [['Content-Type', type]], binaryMediaTypes });
    expect([made.body, made.isBase64Encoded]).toEqual([isBase64 ? encoded : '{\ufffd}', isBase64]);
  });
});

describe('the gateway', () => {
  it.each([
    [['application/json'], { body: 'e30=', isBase64Encoded: true }],
    [undefined, { body: '{}', isBase64Encoded: false }],
  ])('reads the binary media types of the template: %j', async (BinaryMediaTypes, expected) => {
    const invoke = vi.fn(() => ({ statusCode: 200, body: '' }));
    const { url } = await startGateway({ invoke, properties: { 'AWS::ApiGateway::RestApi': { BinaryMediaTypes } } });
    const headers = { Authorization: 'x', 'Content-Type': 'application/json' };
    await fetch(`${url}/v1/events`, { method: 'POST', headers, body: '{}' });
    expect(invoke.mock.lastCall).toMatchObject([expected]);
  });

  it('passes path parameters unchanged', () => {
    const found = findRoute(readRoutes(readTemplate()), 'GET', '/v1/documents/a%253Ab%');
    expect(found?.parameters).toEqual({ key: 'a%253Ab%' });
  });
});
