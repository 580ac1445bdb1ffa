import type { Duplex } from 'node:stream';
import { strictHead } from './strict-head.ts';

/** The start of a response: the version, the status code and the next character. */
const START = /^HTTP\/1\.[01] \d{3}[ \r\n]/;
const EXAMPLE = 'HTTP/1.1 200 ';
const INTERIM = /^HTTP\/1\.[01] 1(?!01)/;
const END = /\r?\n\r?\n/;

const NOTHING = Buffer.alloc(0);

const rewritten = new WeakSet<Duplex>();

/** Whether a response on a connection was rewritten. Its framing is ambiguous, so the connection must not be reused. */
export const wasRewritten = (connection: Duplex): boolean => rewritten.has(connection);

/**
 * Until the returned function is called, rewrites heads of responses that Node's parser rejects and other clients accept
 * (`strictHead`). A connection passes received data to its `push`, which is the only place before the parser.
 *
 * @param onBytes Called with the number of received bytes after the parser has read them.
 */
export function readResponses(connection: Duplex, onBytes: (count: number) => void): () => void {
  const push = connection.push.bind(connection);
  let isHead = true;
  /** The incomplete head, its length and its end. */
  let held: Buffer[] = [];
  let heldBytes = 0;
  let tail = '';

  const read = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      if (held.length > 0) push(Buffer.concat(held));
      return push(null);
    }
    let isRead = true;
    let rest = chunk;
    while (isHead && rest.length > 0 && connection.push === read) [isRead, rest] = readHead(rest);
    if (rest.length > 0) isRead = push(rest);
    onBytes(chunk.length);
    return isRead;
  };
  connection.push = read;
  return () => void Reflect.deleteProperty(connection, 'push');

  /** Passes a complete head to the parser, and returns the data after it. What is no head of HTTP/1 is left to the parser. */
  function readHead(chunk: Buffer): [isRead: boolean, rest: Buffer] {
    const text = tail + chunk.toString('latin1');
    const isStart = heldBytes >= EXAMPLE.length || START.test(text + EXAMPLE.slice(text.length));
    held.push(chunk);
    heldBytes += chunk.length;
    tail = text.slice(-EXAMPLE.length);
    if (isStart && !END.test(text)) return [true, NOTHING];
    const all = Buffer.concat(held);
    held = [];
    heldBytes = 0;
    tail = '';
    const { index, 0: end } = END.exec(all.toString('latin1')) ?? { index: 0, 0: '' };
    const head = all.toString('latin1', 0, index);
    isHead = isStart && INTERIM.test(head);
    if (!isStart) return [true, all];
    const strict = strictHead(head);
    if (strict === head && end === '\r\n\r\n' && !isHead) return [push(all), NOTHING];
    if (strict !== head || end !== '\r\n\r\n') rewritten.add(connection);
    return [push(Buffer.from(`${strict}\r\n\r\n`, 'latin1')), all.subarray(index + end.length)];
  }
}
