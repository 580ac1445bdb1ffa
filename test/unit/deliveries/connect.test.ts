import { EventEmitter } from 'node:events';
import net, { isIPv6 } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NotPublicError } from '../../../lib/deliveries/addresses.ts';
import { connect } from '../../../lib/deliveries/connect.ts';
import { failureCode } from '../../../lib/deliveries/failure-codes.ts';
import { stopTime } from '../../support/endpoints.ts';

const [V4, OTHER_V4, V6, OTHER_V6] = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'];
/** The time limit of an attempt. */
const LIMIT_MS = 5000;
stopTime();
afterEach(() => void vi.restoreAllMocks());

/** What an address does: after a time, it accepts or fails with an error code. The default is silence. */
type Behavior = 'accepts' | 'ECONNREFUSED' | 'ENETUNREACH' | 'EMFILE';
type Network = Record<string, readonly [afterMs: number, behavior: Behavior]>;

class FakeSocket extends EventEmitter {
  isOpen = true;
  readonly address: string;
  constructor(address: string) {
    super();
    this.address = address;
  }
  destroy() {
    this.isOpen = false;
  }
}

/** Connects in a network. `lookups` has one for each family. */
function connecting(network: Network, lookups: readonly (() => Promise<readonly string[]>)[]) {
  const sockets: FakeSocket[] = [];
  const startedAt: Record<string, number> = {};
  const begin = performance.now();
  vi.spyOn(net, 'connect').mockImplementation((({ host = '' }: net.TcpNetConnectOpts) => {
    const socket = new FakeSocket(host);
    sockets.push(socket);
    startedAt[host] = performance.now() - begin;
    const [afterMs, behavior] = network[host] ?? [];
    const act = () =>
      behavior === 'accepts'
        ? socket.emit('connect')
        : socket.emit(
            'error',
            Object.assign(new Error(behavior), { code: behavior, syscall: 'connect', address: host }),
          );
    if (afterMs !== undefined) setTimeout(() => socket.isOpen && act(), afterMs);
    return socket;
  }) as never);
  const ended = new AbortController();
  setTimeout(() => ended.abort(), LIMIT_MS);
  const result = connect(
    lookups.map((lookup) => lookup()),
    { port: 443 },
    ended.signal,
  ).then(
    (socket) => `${(socket as unknown as FakeSocket).address} after ${performance.now() - begin}`,
    (error) => `${failureCode(error)} (${error.code}) after ${performance.now() - begin}`,
  );
  return { result, startedAt, sockets };
}

/** Lets time pass, with the promises that each moment settles. */
async function pass(ms = LIMIT_MS): Promise<void> {
  await turn();
  for (let passed = 0; passed < ms; passed += 50) {
    vi.advanceTimersByTime(50);
    await turn();
  }
}

const found =
  (...addresses: string[]) =>
  async () =>
    addresses;
const later = (ms: number, addresses: readonly string[] | Error) => () =>
  new Promise<readonly string[]>((resolve, reject) =>
    setTimeout(() => (addresses instanceof Error ? reject(addresses) : resolve(addresses)), ms),
  );
const missing = (code: 'ENODATA' | 'ESERVFAIL') => () =>
  Promise.reject(Object.assign(new Error(code), { code, syscall: 'queryA' }));

describe('a connection to a host', () => {
  it.each<[name: string, Network, (() => Promise<readonly string[]>)[], result: string, startedAt: object]>([
    ['uses IPv4 first', { [V4]: [50, 'accepts'] }, [found(V4), found(V6)], `${V4} after 50`, { [V4]: 0 }],
    [
      'lets a slow address continue although a later one failed',
      { [V4]: [1050, 'accepts'], [V6]: [50, 'ENETUNREACH'] },
      [found(V4), found(V6)],
      `${V4} after 1050`,
      { [V4]: 0, [V6]: 250 },
    ],
    [
      'gives every address all the time of the attempt',
      { [V4]: [4950, 'accepts'] },
      [found(V4, OTHER_V4), found(V6, OTHER_V6)],
      `${V4} after 4950`,
      { [V4]: 0, [V6]: 250, [OTHER_V4]: 500, [OTHER_V6]: 750 },
    ],
    [
      'uses the next address 250 ms after one that does not answer',
      { [V6]: [50, 'accepts'] },
      [found(V4), found(V6)],
      `${V6} after 300`,
      { [V4]: 0, [V6]: 250 },
    ],
    [
      'uses the next address immediately after a failure',
      { [V4]: [50, 'ECONNREFUSED'], [OTHER_V4]: [50, 'accepts'] },
      [found(V4, OTHER_V4), missing('ENODATA')],
      `${OTHER_V4} after 100`,
      { [V4]: 0, [OTHER_V4]: 50 },
    ],
    [
      'waits 250 ms for the addresses of the other family',
      { [V6]: [50, 'accepts'] },
      [later(1000, [V4]), found(V6)],
      `${V6} after 300`,
      { [V6]: 250 },
    ],
    [
      'adds addresses that arrive late',
      { [V4]: [50, 'accepts'] },
      [later(1000, [V4]), found(V6)],
      `${V4} after 1300`,
      { [V6]: 250, [V4]: 1250 },
    ],
    [
      'uses a late address immediately if all others failed',
      { [V4]: [50, 'accepts'], [V6]: [50, 'ECONNREFUSED'] },
      [later(1000, [V4]), found(V6)],
      `${V4} after 1050`,
      { [V6]: 250, [V4]: 1000 },
    ],
    [
      'ends when one late address is not public',
      {},
      [found(V4), later(1000, new NotPublicError())],
      'address_not_public (ADDRESS_NOT_PUBLIC) after 1000',
      { [V4]: 250 },
    ],
    ['has a timeout if no address answers', {}, [found(V4)], 'timeout (ETIMEDOUT) after 5000', { [V4]: 0 }],
    ['has a failed lookup if no name server answers', {}, [later(9000, [V4])], 'dns_failed (ETIMEOUT) after 5000', {}],
    ['fails without addresses', {}, [missing('ENODATA')], 'dns_not_found (ENODATA) after 0', {}],
    [
      'reports the address that has a route',
      { [V4]: [50, 'ECONNREFUSED'], [V6]: [50, 'ENETUNREACH'] },
      [found(V4), found(V6)],
      'connection_refused (ECONNREFUSED) after 100',
      { [V4]: 0, [V6]: 50 },
    ],
    [
      'reports the failed lookup if the other family has no route',
      { [V6]: [50, 'ENETUNREACH'] },
      [missing('ESERVFAIL'), found(V6)],
      'dns_failed (ESERVFAIL) after 50',
      { [V6]: 0 },
    ],
    [
      'reports an internal failure before any other',
      { [V4]: [50, 'ECONNREFUSED'], [V6]: [50, 'EMFILE'] },
      [found(V4), found(V6)],
      'connection_failed (EMFILE) after 100',
      { [V4]: 0, [V6]: 50 },
    ],
  ])('%s', async (_, network, lookups, expected, expectedStarts) => {
    const { result, startedAt, sockets } = connecting(network, lookups);
    await pass();
    expect(await result).toBe(expected);
    expect(startedAt).toEqual(expectedStarts);
    const stillOpen = sockets.filter(({ isOpen, address }) => isOpen && network[address]?.[1] === undefined);
    expect(stillOpen, 'closes the other connections').toEqual([]);
  });

  it('alternates between the families', async () => {
    const { startedAt } = connecting({}, [found(V4, OTHER_V4), found(V6, OTHER_V6)]);
    await pass(1000);
    expect(Object.keys(startedAt).map(isIPv6)).toEqual([false, true, false, true]);
  });
});
