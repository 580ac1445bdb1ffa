import dgram from 'node:dgram';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { afterFile } from '../../support/after-file.ts';

/** The response to a query: addresses of its family, an alias, an error code, or no response. */
export type Records =
  | readonly string[]
  | { cname: string; addresses: readonly string[] }
  | { rcode: number }
  | 'silence';
/** Records by name. A function receives the type and the number of earlier queries of that type. */
export type Zone = Record<string, Records | ((type: QueryType, earlier: number) => Records)>;
type QueryType = 'A' | 'AAAA';

/** RFC 1035 §4.1.1. */
export const SERVFAIL = 2;
export const NXDOMAIN = 3;
export const REFUSED = 5;

const TYPES: Record<number, QueryType> = { 1: 'A', 28: 'AAAA' };
const CNAME = 5;

export interface NameServer {
  /** The address for `nameServers`. */
  address: string;
  /** Every received query, such as `A one.example.com`. */
  queries: string[];
}

/** Starts a name server for one zone (RFC 1035), which runs until the tests of the file have ended. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const queries: string[] = [];
  const socket = dgram.createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionIn(query);
    const earlier = queries.filter((each) => each === `${type} ${name}`).length;
    queries.push(`${type} ${name}`);
    const given = zone[name] ?? { rcode: NXDOMAIN };
    const records = typeof given === 'function' ? given(type, earlier) : given;
    if (records !== 'silence') socket.send(response(query.subarray(0, end), type, records), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  afterFile(() => void socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, queries };
}

function questionIn(query: Buffer): { name: string; type: QueryType; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: TYPES[query.readUInt16BE(at + 1)] ?? 'A', end: at + 5 };
}

function response(question: Buffer, type: QueryType, records: Exclude<Records, 'silence'>): Buffer {
  const rcode = 'rcode' in records ? records.rcode : 0;
  const addresses = 'rcode' in records ? [] : 'addresses' in records ? records.addresses : records;
  const ofType = addresses.filter((address) => isIPv6(address) === (type === 'AAAA'));
  const answers = ofType.map((address) =>
    record(
      'cname' in records ? encoded(records.cname) : ASKED,
      type === 'A' ? 1 : 28,
      ipaddr.parse(address).toByteArray(),
    ),
  );
  if ('cname' in records) answers.unshift(record(ASKED, CNAME, encoded(records.cname)));
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(0x8180 | rcode, 2); // a response with recursion desired and available
  header.writeUInt16BE(answers.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(12), ...answers]);
}

/** A pointer to the name in the question (RFC 1035 §4.1.4). */
const ASKED = Buffer.from([0xc0, 12]);

const encoded = (name: string): Buffer =>
  Buffer.concat([...name.split('.'), ''].map((label) => Buffer.from([label.length, ...Buffer.from(label)])));

function record(name: Buffer, type: number, data: Iterable<number>): Buffer {
  const bytes = Buffer.from([...data]);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2); // class IN with a time to live of 0
  fixed.writeUInt16BE(bytes.length, 8);
  return Buffer.concat([name, fixed, bytes]);
}
