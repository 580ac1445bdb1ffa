import { once } from 'node:events';
import https from 'node:https';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ATTEMPT_TIMEOUT_MS } from '../../../lib/deliveries/attempt.ts';
import { failureText } from '../../../lib/deliveries/failure-causes.ts';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import { normalizeUrl } from '../../../lib/webhooks/endpoint-url.ts';
import { afterFile } from '../../support/after-file.ts';
import { certificate, pem } from '../../support/certificates/read.ts';
import { listen, stopTime } from '../../support/endpoints.ts';
import { type Records, startNameServer } from '../hostile/name-server.ts';

const V4 = '93.184.215.14';
const OTHER_V4 = '93.184.215.15';
const V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';
tls.setDefaultCACertificates([pem('authority')]);
stopTime();

/** Accepts no more connections on its port of 127.0.0.2: the system drops their first packets, as a firewall does. */
const worker = new Worker(
  `const { parentPort } = require('node:worker_threads');
   const server = require('node:net').createServer();
   server.listen({ port: 0, host: '127.0.0.2', backlog: 1 }, () => {
     parentPort.postMessage(server.address().port);
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // and accepts no connections
   });`,
  { eval: true },
);
const [silentPort]: number[] = await once(worker, 'message');
const waiting = [1, 2].map(() => net.connect(silentPort ?? 0, '127.0.0.2'));
await Promise.all(waiting.map((socket) => once(socket, 'connect')));
afterFile(async () => {
  for (const socket of waiting) socket.destroy();
  await worker.terminate();
});

let posts = 0;
const serverNames: (string | undefined)[] = [];
const server = https.createServer(certificate('valid'), (request, response) => {
  posts++;
  serverNames.push((request.socket as tls.TLSSocket).servername || undefined);
  response.end('ok');
});
const port = await listen(server);
beforeEach(() => {
  posts = 0;
});

type Address = 'accepts' | 'is silent' | 'refuses' | 'has no route';
/** What the addresses of the current test do, and the addresses of its connections. */
let network: Record<string, Address> = {};
const connected: string[] = [];
const { connect } = net;
// Replaces the network. Every connection leads to this machine.
const connecting = vi.spyOn(net, 'connect').mockImplementation((({ host = '', ...options }: net.TcpNetConnectOpts) => {
  connected.push(host);
  const behavior = network[host] ?? 'accepts';
  if (behavior === 'is silent') return connect({ ...options, host: '127.0.0.2', port: silentPort ?? 0 });
  if (behavior === 'refuses') return connect({ ...options, host: '127.0.0.1', port: 1 });
  if (behavior === 'accepts') return connect({ ...options, host: '127.0.0.1' });
  const error = { code: 'EADDRNOTAVAIL', syscall: 'connect', address: host };
  return new net.Socket().destroy(Object.assign(new Error('connect EADDRNOTAVAIL'), error));
}) as never);
afterFile(() => connecting.mockRestore());

async function attempt(url: string, records: Records, given: typeof network = {}) {
  network = given;
  connected.splice(0);
  const { address } = await startNameServer({ 'hook.example.com': records });
  const post = httpPost('public', { nameServers: [address] });
  const outcome = post({ url: normalizeUrl(url), headers: {}, body: '{}' });
  let isOver = false;
  const over = outcome.finally(() => {
    isOver = true;
  });
  // Lets the time of the attempt pass while the network makes progress.
  for (let passedMs = 0; !isOver && passedMs < ATTEMPT_TIMEOUT_MS; passedMs += 250) {
    await Promise.race([over, sleep(40)]);
    if (!isOver) vi.advanceTimersByTime(250);
  }
  return outcome;
}
const url = `https://hook.example.com:${port}/`;
const ok = { statusCode: 200, error: null };

describe('a name', () => {
  it.each<[name: string, Records, typeof network, outcome: object, connections: string[]]>([
    ['in both families', [V4, V6], {}, ok, [V4]],
    ['whose IPv4 address is silent', [V4, V6], { [V4]: 'is silent' }, ok, [V4, V6]],
    ['whose IPv4 address refuses', [V4, V6], { [V4]: 'refuses' }, ok, [V4, V6]],
    ['whose IPv6 address is silent', [V4, V6], { [V6]: 'is silent' }, ok, [V4]],
    ['whose first address is silent', [V4, OTHER_V4], { [V4]: 'is silent' }, ok, [V4, OTHER_V4]],
    ['with IPv6 only', [V6], {}, ok, [V6]],
    ['that is an alias', { cname: 'edge.example.net', addresses: [V4, V6] }, {}, ok, [V4]],
  ])('%s is called once', async (_, records, given, outcome, connections) => {
    expect(await attempt(url, records, given)).toMatchObject(outcome);
    expect(connected).toEqual(connections);
    expect(posts).toBe(1);
  });

  it.each<[string, Records, typeof network, error: string, reason: string, text: string]>([
    ['that is silent', [V4], { [V4]: 'is silent' }, 'timeout', 'ETIMEDOUT', 'no connection within 5 seconds'],
    [
      'that refuses in IPv4 and has no route in IPv6',
      [V4, V6],
      { [V4]: 'refuses', [V6]: 'has no route' },
      'connection_refused',
      'ECONNREFUSED',
      'the connection was refused',
    ],
    [
      'in IPv6 only, on a machine without IPv6',
      [V6],
      { [V6]: 'has no route' },
      'host_unreachable',
      'EADDRNOTAVAIL',
      'the host has only IPv6 addresses, and the service has no IPv6',
    ],
    ['without addresses', [], {}, 'dns_not_found', 'ENODATA', 'the host name has no address'],
    ['that does not exist', { rcode: 3 }, {}, 'dns_not_found', 'ENOTFOUND', 'the host name does not exist'],
    [
      'with a failing DNSSEC',
      { rcode: 2 },
      {},
      'dns_failed',
      'ESERVFAIL',
      'the name servers of the host reported a failure',
    ],
  ])('%s fails with the cause', async (_, records, given, error, reason, text) => {
    const outcome = await attempt(url, records, given);
    expect(outcome).toMatchObject({ statusCode: null, error, reason });
    expect(failureText(error, outcome.reason)).toBe(text);
    expect(posts).toBe(0);
  });

  it('with a trailing dot is called without it, also in TLS', async () => {
    serverNames.splice(0);
    expect(await attempt(`https://hook.example.com.:${port}/?`, [V4])).toMatchObject(ok);
    expect(serverNames).toEqual(['hook.example.com']);
  });

  it('that is silent in IPv4 and private in IPv6 is rejected', async () => {
    const outcome = await attempt(url, [V4, 'fd00::1'], { [V4]: 'is silent' });
    expect(outcome).toMatchObject({ error: 'address_not_public', reason: null });
    expect(connected).toEqual([]);
  });
});
