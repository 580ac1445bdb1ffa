import { describe, expect, it } from 'vitest';
import { strictHead } from '../../../lib/deliveries/strict-head.ts';

const crlf = (...lines: string[]) => lines.join('\r\n');
const OK = 'HTTP/1.1 200 OK';

describe('the head of a response', () => {
  it.each<[name: string, head: string, strict: string]>([
    ['ends its lines with CRLF', `${OK}\nA: 1\r\nB: 2`, crlf(OK, 'A: 1', 'B: 2')],
    ['has each header in one line', crlf(OK, 'A: 1', ' 2', '\t 3', 'B: 4'), crlf(OK, 'A: 1 2 3', 'B: 4')],
    ['has a repeated length once', crlf(OK, 'Content-Length: 2', 'content-length:2'), crlf(OK, 'Content-Length: 2')],
    ['has a list of the same length once', crlf(OK, 'Content-Length: 2 , 2'), crlf(OK, 'Content-Length: 2')],
    [
      'has no length with chunks',
      crlf(OK, 'Content-Length: 2', 'Transfer-Encoding: gzip, Chunked'),
      crlf(OK, 'Transfer-Encoding: gzip, Chunked'),
    ],
    ['has no coding that changes nothing', crlf(OK, 'Transfer-Encoding: Identity', 'A: 1'), crlf(OK, 'A: 1')],
  ])('%s', (_, head, strict) => {
    expect(strictHead(head)).toBe(strict);
    expect(strictHead(strict)).toBe(strict);
  });

  it.each([
    ['different lengths', crlf(OK, 'Content-Length: 2', 'Content-Length: 3')],
    ['a list of different lengths', crlf(OK, 'Content-Length: 2, 3')],
    ['a length that is no number', crlf(OK, 'Content-Length: -1')],
    ['a length with another coding', crlf(OK, 'Content-Length: 2', 'Transfer-Encoding: gzip')],
    ['a name that contains another', crlf(OK, 'X-Content-Length: 2', 'X-Content-Length: 2', 'Content-Length: 2')],
    ['control characters', crlf(OK, 'A: \0', 'B: \r')],
  ])('keeps %s for the parser', (_, head) => {
    expect(strictHead(head)).toBe(head);
  });
});
