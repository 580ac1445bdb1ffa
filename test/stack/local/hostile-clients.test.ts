import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDemoReceiver } from '../../../infra/local/demo-receiver.ts';
import { Endpoints } from '../../../infra/local/services/endpoints.ts';
import { FAST_DELAYS, useService } from '../../support/service.ts';
import { startGateway } from './gateway.ts';
import { exchange, hangUp, statusesOf } from './sockets.ts';

const BROKEN_OFF = 'POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{';
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n${more}\r\n`;
const last = get('/v1/keys', 'Connection: close\r\n');
const ok = { statusCode: 200, body: '{}' };

// Errors that would end the process.
const faults: unknown[] = [];
const note = (fault: unknown) => void faults.push(fault);
beforeAll(() => void process.on('unhandledRejection', note).on('uncaughtException', note));
afterAll(() => void process.off('unhandledRejection', note).off('uncaughtException', note));

describe('the gateway survives a client that', () => {
  it('ends a body early', async () => {
    const { port, handled } = await startGateway({ invoke: () => ok });
    await hangUp(port, BROKEN_OFF);
    await hangUp(port, BROKEN_OFF.replace('Content-Length: 100', 'Transfer-Encoding: chunked'));
    expect(statusesOf(await exchange(port, last))).toEqual([200]);
    expect(handled).toHaveLength(3);
    await expect(Promise.all(handled)).resolves.toBeDefined();
  });

  it('disconnects while the function runs', async () => {
    let begin = () => {};
    let end = (_: unknown) => {};
    const running = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const result = new Promise((resolve) => {
      end = resolve;
    });
    const { port, handled } = await startGateway({
      invoke: () => {
        begin();
        return result;
      },
    });
    await hangUp(port, get('/v1/keys'), { after: running });
    end({ ...ok, body: 'a'.repeat(1_000_000) });
    await expect(Promise.all(handled)).resolves.toBeDefined();
    expect(statusesOf(await exchange(port, last))).toEqual([200]);
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', [400]],
    ['an unknown method', last.replace('GET', 'GIVE'), [400]],
    ['a header without a name', get('/v1/keys', ': x\r\n'), [400]],
    ['two lengths', get('/v1/keys', 'Content-Length: 1\r\nContent-Length: 2\r\n'), [400]],
    ['a length that is none', get('/v1/keys', 'Content-Length: -1\r\n'), [400]],
    ['a chunk that is none', get('/v1/keys', 'Transfer-Encoding: chunked\r\n\r\nhello\r\n'), [400]],
    ['more headers than the gateway takes', get('/v1/keys', `X: ${'a'.repeat(11_000)}\r\n`) + last, [400, 200]],
    ['an upgrade', get('/v1/keys', 'Connection: Upgrade, close\r\nUpgrade: websocket\r\n'), [200]],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', []],
    ['an absolute URL', last.replace('/v1', 'http://example.com/v1'), [404]],
    ['an asterisk for a path', last.replace('/v1/keys', '*'), [404]],
    ['a path that cannot be decoded', get('/v1/keys/%E0%A4%A') + last, [200, 200]],
    ['bytes that are no text', get('/v1/keys?a=%FF', 'X: \xFF\r\n') + last, [200, 200]],
    ['bytes that are no URL', get('/v1/keys?a=\xFF') + last, [400]],
    ['three requests at once', get('/v1/keys') + get('/nowhere') + last, [200, 404, 200]],
  ])('sends %s', async (_name, text, expected) => {
    const { port, handled } = await startGateway({ invoke: () => ok });
    expect(statusesOf(await exchange(port, Buffer.from(text, 'latin1')))).toEqual(expected);
    await expect(Promise.all(handled)).resolves.toBeDefined();
    expect(statusesOf(await exchange(port, last))).toEqual([200]);
  });
});

describe('the gateway survives a client that sends', () => {
  it('more headers than a server accepts', async () => {
    const { port } = await startGateway({ invoke: () => ok });
    await exchange(port, get('/v1/keys', `X: ${'a'.repeat(200_000)}\r\n`)); // 431, if it is read before the reset
    expect(statusesOf(await exchange(port, last))).toEqual([200]);
  });
});

describe('the gateway survives a function that returns', () => {
  it.each([
    ['nothing', null],
    ['a text', 'hello'],
    ['no status', { body: '' }],
    ['a status that is none', { statusCode: 1000, body: '' }],
    ['an informational status', { statusCode: 101, body: '' }],
    ['a header value with a line end', { statusCode: 200, headers: { 'X-A': 'b\r\nX-C: d' }, body: '' }],
    ['a header name with a space', { statusCode: 200, headers: { 'X A': 'b' }, body: '' }],
    ['a body that is no text', { statusCode: 200, body: { a: 1 } }],
  ])('%s', async (_name, result) => {
    const { port, handled } = await startGateway({ invoke: () => result });
    expect(statusesOf(await exchange(port, last))).toEqual([500]);
    await expect(Promise.all(handled)).resolves.toBeDefined();
  });

  it.each([
    ['no body', { statusCode: 204 }, /^HTTP\/1\.1 204 /],
    ['a number as a header', { statusCode: 200, headers: { 'X-A': 1 } }, /^x-a: 1\r$/im],
    ['a length of its own', { statusCode: 200, headers: { 'Content-Length': '1' }, body: 'abc' }, /\r\nabc\r\n/],
  ])('%s, and forwards it', async (_name, result, expected) => {
    const { port } = await startGateway({ invoke: () => result });
    expect(await exchange(port, last)).toMatch(expected);
  });
});

describe('the services survive a function that', () => {
  it('ends during a call', async () => {
    const endpoints = new Endpoints();
    await endpoints.listen();
    endpoints.add('echo', ({ body }) => ({ body }));
    const { port, pathname } = new URL(endpoints.url('echo'));
    await hangUp(Number(port), `POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`);
    const response = await fetch(endpoints.url('echo'), { method: 'POST', body: 'still here' });
    expect(await response.text()).toBe('still here');
    await endpoints.close();
  });
});

describe('the demo receiver survives a sender that', () => {
  it('ends a delivery early', async () => {
    const lines: string[] = [];
    const receiver = await startDemoReceiver('whsec_x', 0, (line) => void lines.push(line));
    const { port } = new URL(receiver.url);
    await hangUp(Number(port), BROKEN_OFF);
    expect((await fetch(receiver.url, { method: 'POST', body: '{}' })).status).toBe(401);
    expect(lines).toHaveLength(1);
    receiver.close();
  });
});

describe('the local stack', () => {
  const service = useService(FAST_DELAYS);

  it('still responds after these requests', async () => {
    const { port } = new URL(service.stack.baseUrl);
    await Promise.all(Array.from({ length: 20 }, () => hangUp(Number(port), BROKEN_OFF)));
    expect(statusesOf(await exchange(Number(port), 'hello\r\n\r\n'))).toEqual([400]);
    const { admin } = await service.project();
    expect((await admin('GET', '/v1/keys')).status).toBe(200);
  });
});

it('leaves no uncaught error', () => {
  expect(faults).toEqual([]);
});
