import { describe, expect, it } from 'vitest';
import { httpPost } from '../../../lib/aws/http-post.ts';
import { besideHealthy, closed, endpoint, flood, stopTime } from '../../support/endpoints.ts';

stopTime(); // the time limit never ends a flood
const post = httpPost('any');
/** The maximum size of the buffers of both sockets. */
const MAX_SENT_BYTES = 16 * 1024 * 1024;

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const interim = (status: string) => `HTTP/1.1 ${status}\r\n\r\n`;

describe('a flood', () => {
  it.each([
    ['100 Continue', '', interim('100 Continue'), null, 'response_invalid'],
    ['102 Processing', '', interim('102 Processing'), null, 'response_invalid'],
    ['103 Early Hints', '', `HTTP/1.1 103\r\nLink: </${'x'.repeat(4000)}>\r\n\r\n`, null, 'response_invalid'],
    ['blank lines before the response', '', '\r\n', null, 'response_too_large'],
    ['a reason phrase', 'HTTP/1.1 200 ', 'x', null, 'response_too_large'],
    ['headers', OK, 'X: y\r\n', null, 'response_too_large'],
    ['one header', `${OK}X: `, 'x', null, 'response_too_large'],
    ['the name of a header', OK, 'x', null, 'response_too_large'],
    ['a body with a length', `${OK}Content-Length: 99999999999\r\n\r\n`, 'x', 200, 'response_too_large'],
    ['a body without one', `${OK}\r\n`, 'x', 200, 'response_too_large'],
    ['chunks of one byte', CHUNKED, '1\r\nx\r\n', 200, 'response_too_large'],
    ['one chunk', `${CHUNKED}ffffffff\r\n`, 'x', 200, 'response_too_large'],
    ['zeros before the size of a chunk', CHUNKED, '0', 200, 'response_too_large'],
    ['one extension of a chunk', `${CHUNKED}1;x=`, 'x', 200, 'response_invalid'],
    ['extensions of chunks', CHUNKED, `1;x=${'x'.repeat(15_000)}\r\nx\r\n`, 200, 'response_too_large'],
    ['trailers', `${CHUNKED}0\r\n`, 'X: y\r\n', 200, 'response_too_large'],
    ['one trailer', `${CHUNKED}0\r\nX: `, 'x', 200, 'response_too_large'],
    ['responses', '', `${OK}Content-Length: 0\r\n\r\n`, 200, null],
  ])('is stopped: %s', async (_, head, unit, statusCode, error) => {
    const hostile = await endpoint((socket) => {
      socket.write(head);
      flood(socket, unit);
    });
    expect(await besideHealthy(post, hostile.url)).toMatchObject({ statusCode, error });
    const [socket] = hostile.connections;
    await closed(socket);
    expect(socket?.bytesWritten).toBeLessThan(MAX_SENT_BYTES);
    expect(hostile.posts).toBe(1);
  });
});
