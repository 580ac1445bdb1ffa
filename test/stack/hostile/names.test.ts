import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ATTEMPT_TIMEOUT_MS } from '../../../lib/deliveries/attempt.ts';
import { httpPost } from '../../../lib/deliveries/http-post.ts';
import { afterFile } from '../../support/after-file.ts';
import { pem } from '../../support/certificates/read.ts';
import { listen, stopTime } from '../../support/endpoints.ts';
import { NXDOMAIN, REFUSED, type Records, SERVFAIL, startNameServer, type Zone } from './name-server.ts';

/** How long a connection waits for the addresses of the other family. */
const OTHER_FAMILY_MS = 250;
const V4 = '93.184.215.14';
const V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';
tls.setDefaultCACertificates([pem('authority')]);
stopTime();

const server = https.createServer({ key: pem('key'), cert: pem('valid') }, (_, response) => response.end('ok'));
const port = await listen(server);
/** The target address of each connection. */
const connections: string[] = [];
const { connect } = net;
// Replaces the network. Every connection leads to this machine.
const connecting = vi.spyOn(net, 'connect').mockImplementation(((options: net.TcpNetConnectOpts) => {
  connections.push(options.host ?? '');
  return connect({ ...options, host: '127.0.0.1' });
}) as never);
afterFile(() => connecting.mockRestore());
afterEach(() => void connections.splice(0));

/** Posts to names of a zone like the service. */
async function world(zone: Zone) {
  const { address, queries } = await startNameServer({ 'healthy.example.com': [V4], ...zone });
  const post = httpPost('public', { nameServers: [address] });
  return { queries, post: (name: string) => post({ url: `https://${name}:${port}/`, headers: {}, body: '{}' }) };
}
const ok = { statusCode: 200, error: null };
const refused = { statusCode: null, error: 'address_not_public' };
const failure = (error: string) => ({ statusCode: null, error });

describe('a name', () => {
  it.each<[name: string, records: Zone[string], outcome: object]>([
    ['public', [V4], ok],
    ['public in both families', [V4, V6], ok],
    ['public in IPv6 only', [V6], ok],
    ['a name for a public one', { cname: 'real.example.net', addresses: [V4] }, ok],
    ['private', ['10.0.0.1'], refused],
    ['the function itself', ['::1'], refused],
    ['public and private', [V4, '192.168.0.1'], refused],
    ['public in IPv4 and private in IPv6', [V4, 'fd00::1'], refused],
    ['private in IPv4 and public in IPv6', ['172.16.0.1', V6], refused],
    ['IPv4-mapped', ['::ffff:10.0.0.1'], refused],
    ['a name for a private one', { cname: 'router.example.net', addresses: ['192.168.1.1'] }, refused],
    ['without addresses', [], failure('dns_not_found')],
    ['a name for one without addresses', { cname: 'gone.example.net', addresses: [] }, failure('dns_not_found')],
    ['unknown', { rcode: NXDOMAIN }, failure('dns_not_found')],
    ['broken', { rcode: SERVFAIL }, failure('dns_failed')],
    ['refused by its name server', { rcode: REFUSED }, failure('dns_failed')],
    ['public, but broken in IPv6', (type) => (type === 'A' ? [V4] : { rcode: SERVFAIL }), ok],
    ['public, but broken in IPv4', (type) => (type === 'A' ? { rcode: SERVFAIL } : [V6]), ok],
    ['without IPv6, broken in IPv4', (type) => (type === 'A' ? { rcode: SERVFAIL } : []), failure('dns_failed')],
  ])('has the expected outcome with addresses: %s', async (_, records, outcome) => {
    const { post } = await world({ 'hostile.example.com': records });
    const hostile = post('hostile.example.com');
    expect(await post('healthy.example.com')).toMatchObject(ok);
    expect(await hostile).toMatchObject(outcome);
  });

  it('connects only to the verified addresses', async () => {
    const { post, queries } = await world({ 'both.example.com': [V6, V4] });
    expect(await post('both.example.com')).toMatchObject(ok);
    expect(connections).toEqual([V4]);
    expect(queries.toSorted()).toEqual(['A both.example.com', 'AAAA both.example.com']);
  });

  it('is rejected at the next connection after it becomes private', async () => {
    const rebinding = (_: string, earlier: number): Records => (earlier === 0 ? [V4] : ['127.0.0.1']);
    const { post } = await world({ 'rebinding.example.com': rebinding });
    const [first, second] = await Promise.all([post('rebinding.example.com'), post('rebinding.example.com')]);
    expect(new Set([first.error, second.error])).toEqual(new Set([null, 'address_not_public']));
    expect(connections).toEqual([V4]);
  });

  it('is rejected at the second POST of an attempt after it becomes private', async () => {
    const name = 'stale.example.com';
    const { post } = await world({ [name]: (_, earlier) => (earlier === 0 ? [V4] : ['127.0.0.1']) });
    expect(await post(name)).toMatchObject(ok);
    server.closeAllConnections();
    expect(await post(name)).toMatchObject(refused);
    expect(connections).toEqual([V4]);
  });

  it('is rejected before a lookup if it is known to be private', async () => {
    const { post, queries } = await world({});
    for (const name of ['localhost', 'router', 'printer.local', 'db.internal', '127.0.0.1', '[::1]', '[::ffff:7f00:1]'])
      expect(await post(name)).toMatchObject(refused);
    expect(queries).toEqual([]);
  });
});

describe('a name server', () => {
  const failed = (reason: string) => ({ ...failure('dns_failed'), reason });
  it.each<[name: string, records: Zone[string], durationMs: number, outcome: object]>([
    ['is silent', 'silence', ATTEMPT_TIMEOUT_MS, failed('ETIMEOUT')],
    ['is silent about IPv6', (type) => (type === 'A' ? [V4] : 'silence'), OTHER_FAMILY_MS, ok],
    ['is silent about IPv4', (type) => (type === 'A' ? 'silence' : [V6]), OTHER_FAMILY_MS, ok],
    [
      'is silent about IPv6 and has no IPv4',
      (type) => (type === 'A' ? [] : 'silence'),
      ATTEMPT_TIMEOUT_MS,
      failed('ETIMEOUT'),
    ],
  ])('has all the time of the attempt, and is waited for no longer than necessary, when it %s', async (...given) => {
    const [, records, durationMs, outcome] = given;
    const { post } = await world({ 'hostile.example.com': records });
    const hostile = post('hostile.example.com');
    expect(await post('healthy.example.com')).toMatchObject(ok);
    vi.advanceTimersByTime(durationMs - 1);
    expect(await post('healthy.example.com')).toMatchObject(ok);
    vi.advanceTimersByTime(1);
    expect(await hostile).toMatchObject({ ...outcome, durationMs });
  });

  it('is queried again after one lost response', async () => {
    const { post } = await world({ 'slow.example.com': (_, earlier) => (earlier === 0 ? 'silence' : [V4]) });
    expect(await post('slow.example.com')).toMatchObject(ok);
  });

  it('does not affect other names when it ignores many queries', async () => {
    const names = Array.from({ length: 24 }, (_, i) => `silent-${i}.example.com`);
    const { post } = await world(Object.fromEntries(names.map((name) => [name, 'silence'])));
    const hostile = Promise.all(names.map(post));
    const healthy = Promise.all(names.map(() => post('healthy.example.com')));
    expect(await Promise.race([hostile, healthy])).toEqual(await healthy);
    for (const outcome of await healthy) expect(outcome).toMatchObject({ ...ok, durationMs: 0 });
    await vi.advanceTimersByTimeAsync(ATTEMPT_TIMEOUT_MS);
    for (const outcome of await hostile) expect(outcome).toMatchObject(failure('dns_failed'));
  });

  it('causes an internal failure and no attempt when it is missing', async () => {
    const post = httpPost('public', { nameServers: ['127.0.0.1:1'] });
    await expect(post({ url: 'https://any.example.com/', headers: {}, body: '' })).rejects.toThrow('ECONNREFUSED');
  });
});
