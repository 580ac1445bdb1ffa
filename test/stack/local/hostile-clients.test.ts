import { expect, it } from 'vitest';
import { startDemoReceiver } from '../../../infra/local/demo-receiver.ts';
import { startGateway } from './gateway.ts';
import { exchange, hangUp, statusesOf } from './sockets.ts';

const BROKEN_OFF = 'POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{';
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n${more}\r\n`;
const last = get('/v1/keys', 'Connection: close\r\n');
const ok = { statusCode: 200, body: '{}' };

it('survives clients that end a request early', async () => {
  const { port, handled } = await startGateway({ invoke: () => ok });
  await hangUp(port, BROKEN_OFF);
  await hangUp(port, BROKEN_OFF.replace('Content-Length: 100', 'Transfer-Encoding: chunked'));
  expect(statusesOf(await exchange(port, last))).toEqual([200]);
  await expect(Promise.all(handled)).resolves.toHaveLength(3);
  const receiver = await startDemoReceiver('whsec_x', 0, () => {});
  await hangUp(Number(new URL(receiver.url).port), BROKEN_OFF);
  expect((await fetch(receiver.url, { method: 'POST', body: '{}' })).status).toBe(401);
  receiver.close();
});

it.each([
  ['no HTTP', 'hello\r\n\r\n', [400]],
  ['two lengths', get('/v1/keys', 'Content-Length: 1\r\nContent-Length: 2\r\n'), [400]],
  ['too many headers', get('/v1/keys', `X: ${'a'.repeat(11_000)}\r\n`) + last, [400, 200]],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', []],
  ['an asterisk instead of a path', last.replace('/v1/keys', '*'), [404]],
  ['a path that is not UTF-8', get('/v1/keys/%E0%A4%A') + last, [200, 200]],
  ['a query that is not ASCII', get('/v1/keys?a=\xFF') + last, [400]],
  ['three requests together', get('/v1/keys') + get('/nowhere') + last, [200, 404, 200]],
])('responds to %s', async (_name, text, expected) => {
  const { port, handled } = await startGateway({ invoke: () => ok });
  expect(statusesOf(await exchange(port, Buffer.from(text, 'latin1')))).toEqual(expected);
  await expect(Promise.all(handled)).resolves.toBeDefined();
  expect(statusesOf(await exchange(port, last))).toEqual([200]);
});

it.each([
  ['nothing', null, 500],
  ['an informational status', { statusCode: 101, body: '' }, 500],
  ['a header value with a line end', { statusCode: 200, headers: { 'X-A': 'b\r\nX-C: d' }, body: '' }, 500],
  ['a body that is no text', { statusCode: 200, body: { a: 1 } }, 500],
  ['no body', { statusCode: 204 }, 204],
])('responds when a function returns %s', async (_name, result, status) => {
  const { port } = await startGateway({ invoke: () => result });
  expect(statusesOf(await exchange(port, last))).toEqual([status]);
});
