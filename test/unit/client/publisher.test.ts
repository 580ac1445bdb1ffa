import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryOutbox } from '../../../lib/client/outbox.ts';
import type { Rejection } from '../../../lib/client/publish-batch.ts';
import { publisher } from '../../../lib/client/publisher.ts';
import type { NewEvent, PublisherOptions } from '../../../lib/client/publisher-types.ts';
import { event, ingest, revisionsOf } from './ingest.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000);

/** The pending timers of the client. Other modules of the worker, such as `fetch`, start timers too. */
function clientTimers(): ReadonlySet<unknown> {
  const pending = new Set<unknown>();
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((act: () => void, ms: number) => {
    const timer = start(() => {
      pending.delete(timer);
      act();
    }, ms);
    if (new Error().stack?.includes('/lib/client/')) pending.add(timer);
    return timer;
  }) as never);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    pending.delete(timer);
    stop(timer);
  });
  return pending;
}

/** A publisher that records what it reports. */
async function reporting(options: PublisherOptions) {
  const reports = {
    published: [] as number[],
    rejected: [] as [NewEvent, Rejection][],
    waits: [] as number[],
    reasons: [] as string[],
  };
  const created = await publisher({
    onPublished: (count) => void reports.published.push(count),
    onRejected: (rejected, problem) => void reports.rejected.push([rejected, problem]),
    onRetry: (reason, waitSeconds) => {
      reports.reasons.push(reason);
      reports.waits.push(waitSeconds);
    },
    ...options,
  });
  const publishAll = (revisions: readonly number[]) =>
    Promise.all(revisions.map((each) => created.publish(event(each))));
  return { ...created, ...reports, publishAll };
}

describe('a batch', () => {
  it.each([
    [undefined, 1],
    [5, 5],
  ])('gathers events for a second, or for another time: %s', async (maxWaitSeconds, wait) => {
    const { requests, access } = ingest();
    const { publishAll, published } = await reporting({ ...access, maxWaitSeconds });
    await publishAll([1, 2]);
    await seconds(wait - 0.1);
    await publishAll([3]);
    expect(requests).toEqual([]);
    await seconds(0.1);
    expect(requests.map(({ events }) => revisionsOf(events))).toEqual([[1, 2, 3]]);
    expect(published).toEqual([3]);
  });

  it('is sent for an event that the application publishes when it learns that another one was published', async () => {
    const { requests, access } = ingest();
    const created = await publisher({
      ...access,
      maxWaitSeconds: 0,
      onPublished: async () => {
        if (requests.length === 1) await created.publish(event(2)).then(created.flush); // no deadlock
        throw new Error('An error of the application');
      },
    });
    await created.publish(event(1));
    await seconds(0.5);
    expect(requests.map(({ events }) => revisionsOf(events))).toEqual([[1], [2]]);
    expect(created.stats().retries).toBe(0);
  });

  it('is sent immediately with 100 events or 1 MiB', async () => {
    const { requests, access } = ingest();
    const { publishAll, publish } = await reporting(access);
    await publishAll(upTo(100));
    await seconds(0);
    expect(requests.map(({ events }) => events.length)).toEqual([100]);
    const large = { text: 'é'.repeat(100_000) };
    await Promise.all(upTo(6).map((revision) => publish(event(revision, 'a', large))));
    await seconds(0);
    expect(requests.map(({ events }) => events.length)).toEqual([100, 5]);
    await seconds(1);
    expect(requests.map(({ events }) => events.length)).toEqual([100, 5, 1]);
  });
});

describe('a failed request', () => {
  const problem = { code: 'unavailable' };

  it.each([
    [429, '7', 7],
    [503, '7', 7],
    [503, '86400', 3600],
  ])('is repeated with the same key after Retry-After, but at most an hour: %i %s', async (status, value, wait) => {
    const fate = (_: unknown, count: number) =>
      count === 1 ? { status, headers: { 'Retry-After': value }, problem } : ('works' as const);
    const { requests, access } = ingest({ fate });
    const onRetry = vi.fn(() => {
      throw new Error('An error of the application');
    });
    const { publishAll } = await reporting({ ...access, onRetry });
    await publishAll([1]);
    await seconds(1);
    await publishAll([2]);
    await seconds(wait - 0.1);
    expect(requests).toHaveLength(1);
    await seconds(0.1);
    expect(requests[1]).toEqual(requests[0]);
    expect(onRetry.mock.calls).toEqual([[`${status} unavailable: Rejected.`, wait]]);
    await seconds(0.9);
    expect(requests).toHaveLength(2);
    await seconds(0.1);
    expect(revisionsOf(requests[2]?.events ?? [])).toEqual([2]);
  });

  const dated = { status: 503, headers: { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' }, problem };
  it.each([
    ['a lost response', 'lost' as const, 'fetch failed: ECONNRESET'],
    ['a date in Retry-After', dated, '503 unavailable: Rejected.'],
    ['no wait in Retry-After', { ...dated, headers: { 'Retry-After': '0' } }, '503 unavailable: Rejected.'],
  ])('is repeated with a growing delay, and published once: %s', async (_, failure, reason) => {
    const { accepted, requests, access } = ingest({ fate: (_, count) => (count <= 8 ? failure : 'works') });
    const { publishAll, waits, reasons, stats } = await reporting(access);
    await publishAll([1]);
    await seconds(600);
    expect(requests).toHaveLength(9);
    expect(revisionsOf(accepted)).toEqual([1]);
    expect(new Set(reasons)).toEqual(new Set([reason]));
    for (const [i, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(Math.min(30, 2 ** i) / 2);
      expect(wait).toBeLessThanOrEqual(Math.min(30, 2 ** i));
    }
    expect(stats()).toEqual({ buffered: 0, published: 1, rejected: 0, refused: 0, retries: 8 });
  });

  it('is repeated with the same key without a response for 30 seconds, and ended by close', async () => {
    const after = (ms: number) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error('Timeout')), ms);
      return controller.signal;
    };
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(after); // fake timers do not reach the original
    const { requests, access } = ingest();
    const signals: AbortSignal[] = [];
    const hanging: typeof fetch = async (url, init) => {
      const response = await access.fetch(url, init);
      const { signal } = init as { signal: AbortSignal };
      if (signals.push(signal) === 2) return response;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const { publishAll, reasons, flush, close, stats } = await reporting({ ...access, fetch: hanging });
    await publishAll([1]);
    await seconds(1 + 29.9);
    expect([signals.length, reasons]).toEqual([1, []]);
    await seconds(0.1 + 1);
    expect(reasons).toEqual(['Timeout']);
    expect(requests[1]).toEqual(requests[0]);
    await publishAll([2]);
    void flush();
    const closing = close(0);
    await seconds(0);
    expect(signals[2]?.aborted).toBe(true);
    expect([await closing, reasons, stats().retries]).toEqual([1, ['Timeout'], 1]);
  });

  it.each([
    [401, { code: 'unauthorized' }, '401 unauthorized: Rejected.'],
    [409, { code: 'idempotency_in_progress' }, '409 idempotency_in_progress: Rejected.'],
    [400, { message: 'from a proxy' }, '400 without a problem document'],
    [400, '<h1>Bad request</h1>', '400 without a problem document'],
    [200, '<h1>Sign in</h1>', '200 without a problem document'], // after a redirect of a proxy
  ])('keeps its events after %i %o', async (status, problem, reason) => {
    const { accepted, access } = ingest({ fate: (_, count) => (count === 1 ? { status, problem } : 'works') });
    const { publishAll, rejected, reasons } = await reporting(access);
    await publishAll([1]);
    await seconds(10);
    expect(revisionsOf(accepted)).toEqual([1]);
    expect([rejected, reasons]).toEqual([[], [reason]]);
  });

  it('gets another key if its key belongs to other events', async () => {
    const { accepted, access, requests } = ingest();
    const outbox = memoryOutbox();
    outbox.add(JSON.stringify(event(1)));
    outbox.assign([1], 'key');
    await access.fetch('', { body: '{"events":[]}', headers: { 'Idempotency-Key': 'key' } });
    await reporting({ ...access, outbox });
    await seconds(3);
    expect(requests.map(({ key }) => key === 'key')).toEqual([true, true, false]);
    expect(revisionsOf(accepted)).toEqual([1]);
  });
});

describe('an invalid event', () => {
  const invalid = (revision: number) => revision % 10 === 0;

  it.each([
    ['invalid_request', 400, true],
    ['invalid_json', 400, false],
    ['payload_too_large', 413, false],
  ])('is dropped and reported, and the others are published in order: %s', async (code, status, isNamed) => {
    const fate = ({ events }: { events: NewEvent[] }) => {
      const places = revisionsOf(events).flatMap((revision, i) => (invalid(revision) ? [i] : []));
      if (places.length === 0) return 'works' as const;
      const errors = places.slice(0, 2).map((i) => ({ field: `events[${i}].data.revision`, detail: 'is invalid' }));
      return { status, problem: { code, ...(isNamed && { errors }) } };
    };
    const { accepted, access } = ingest({ fate });
    const rejected: [NewEvent, Rejection][] = [];
    const onRejected = async (...report: [NewEvent, Rejection]) => {
      rejected.push(report);
      if (revisionsOf([report[0]]).includes(10)) throw new Error('An error of the application');
      await new Promise(() => {}); // the publisher does not wait
    };
    const outbox = memoryOutbox();
    vi.spyOn(outbox, 'remove').mockRejectedValueOnce(new Error('locked')); // the repetition reports no event twice
    const { publishAll, flush, stats } = await reporting({ ...access, outbox, onRejected });
    await publishAll(upTo(55));
    const flushed = flush();
    await seconds(2);
    expect(revisionsOf(accepted)).toEqual(upTo(55).filter((revision) => !invalid(revision)));
    expect(revisionsOf(rejected.map(([each]) => each)).sort()).toEqual([10, 20, 30, 40, 50]);
    expect(rejected[0]?.[1].errors?.[0]?.detail).toBe(isNamed ? 'is invalid' : undefined);
    expect(stats()).toMatchObject({ published: 50, rejected: 5, buffered: 0 });
    await flushed;
  });
});

describe('the buffer', () => {
  it('lets callers wait for room, and refuses more of them', async () => {
    let isDown = true;
    const { access, accepted, requests } = ingest({ fate: () => (isDown ? { status: 503 } : 'works') });
    const { publish, publishAll, stats } = await reporting({ ...access, maxBuffered: 3 });
    await publishAll([1, 2, 3]);
    await seconds(0);
    expect(requests).toHaveLength(1);
    const late = vi.fn();
    const calls = [4, 5, 6].map((revision) => publish(event(revision)).then(late));
    await expect(publish(event(7))).rejects.toThrow('The buffer is full, and 3 calls wait for room.');
    await seconds(5);
    expect(late).not.toHaveBeenCalled();
    const before = stats();
    isDown = false;
    await seconds(60);
    await Promise.all(calls);
    expect(revisionsOf(accepted)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(before).toMatchObject({ buffered: 3, published: 0, refused: 1 });
  });

  it('lets 10,000 calls wait by default', async () => {
    const outbox = { ...memoryOutbox(), add: () => new Promise<void>(() => {}) };
    const { publish } = await reporting({ ...ingest().access, outbox });
    for (const revision of upTo(10_000)) void publish(event(revision));
    await expect(publish(event(0))).rejects.toThrow('The buffer is full, and 10000 calls wait for room.');
  });

  it('keeps the order of the calls, and the events as they were then, in an outbox that is slow', async () => {
    const { access, accepted } = ingest();
    const inner = memoryOutbox();
    const delays = [3000, 1, 2000, 1];
    const add = async (text: string) => {
      await new Promise((resolve) => setTimeout(resolve, delays.shift()));
      return inner.add(text);
    };
    const { publish, publishAll, flush } = await reporting({ ...access, outbox: { ...inner, add } });
    const calls = publishAll([1, 2, 3]);
    const last = event(4);
    const call = publish(last);
    Object.assign(last.data, { revision: 9 });
    const flushed = flush(); // waits for them
    await seconds(10);
    await Promise.all([calls, call, flushed]);
    expect(revisionsOf(accepted)).toEqual([1, 2, 3, 4]);
  });

  it('accepts no event over 256 KiB, and none that its outbox cannot store', async () => {
    const { access, accepted, requests } = ingest();
    const outbox = memoryOutbox();
    const add = vi.spyOn(outbox, 'add');
    const remove = vi.spyOn(outbox, 'remove');
    const { publish, flush, published, reasons } = await reporting({ ...access, outbox, maxBuffered: 1 });
    const free = 262_144 - JSON.stringify(event(3, 'a', { text: '' })).length;
    const large = event(1, 'a', { text: 'é'.padEnd(free, 'a') }); // a byte more than characters
    await expect(publish(large)).rejects.toThrow('at most 262144 bytes');
    add.mockImplementationOnce(() => Promise.reject(new Error('The disk is full')));
    await expect(publish(event(2))).rejects.toThrow('The disk is full');
    remove.mockImplementationOnce(() => Promise.reject(new Error('locked')));
    vi.spyOn(outbox, 'assign').mockImplementationOnce(() => Promise.reject(new Error('no key stored')));
    await publish(event(3, 'a', { text: 'a'.repeat(free) }));
    const flushed = flush();
    await seconds(4);
    await flushed;
    expect([revisionsOf(accepted), requests.length]).toEqual([[3], 2]);
    expect([published, reasons]).toEqual([[1], ['Error: no key stored', 'Error: locked']]);
  });
});

describe('flush and close', () => {
  it('publish immediately, and close accepts no more events', async () => {
    const fate = (_: unknown, count: number) => {
      if (count === 1) void publish(event(2)); // during the flush, which does not wait for it
      return 'works' as const;
    };
    const { access, accepted, requests } = ingest({ fate });
    const timers = clientTimers();
    const { publish, flush, close } = await reporting(access);
    void publish(event(1));
    await flush();
    expect(revisionsOf(accepted)).toEqual([1]);
    await seconds(0.9);
    expect([requests.length, timers.size]).toEqual([1, 1]);
    const closing = close();
    await expect(publish(event(3))).rejects.toThrow('The publisher is closed.');
    expect(await closing).toBe(0);
    expect(timers.size).toBe(0);
    expect(revisionsOf(accepted)).toEqual([1, 2]);
  });

  it('publish immediately until each of them has ended', async () => {
    const fate = (_: unknown, count: number) => {
      if (count === 1) void Promise.all([publish(event(2)), flush()]);
      return 'works' as const;
    };
    const { access, requests } = ingest({ fate });
    const { publish, flush } = await reporting(access);
    void publish(event(1));
    await flush();
    await seconds(0);
    expect(requests).toHaveLength(2);
  });

  it.each([
    [5, 5],
    [undefined, 10],
  ])('leave events in the outbox without responses for %s seconds, and tell waiting callers', async (given, wait) => {
    const outbox = memoryOutbox();
    const { access } = ingest({ fate: () => ({ status: 503 }) });
    const { publish, flush, close } = await reporting({ ...access, outbox, maxBuffered: 1 });
    await publish(event(1));
    const waiting = expect(publish(event(2))).rejects.toThrow('The publisher is closed.');
    const ended = vi.fn();
    void Promise.all([flush(), close(given)]).then(ended);
    await seconds(wait);
    expect(ended).toHaveBeenCalledWith([undefined, 1]);
    await waiting;
    const up = ingest();
    await reporting({ ...up.access, outbox });
    await seconds(1);
    expect(revisionsOf(up.accepted)).toEqual([1]);
  });
});

it('closes its outbox after the last change of it', async () => {
  const calls: string[] = [];
  const [removing, adding] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const change = (name: string, end: Promise<void>) => async () => {
    calls.push(name);
    await end;
    calls.push(`${name} ended`);
  };
  const remove = change('remove', removing.promise);
  const outbox = { ...memoryOutbox(), remove, close: () => void calls.push('close') };
  const { publish, flush, close } = await reporting({ ...ingest().access, outbox });
  await publish(event(1));
  void flush();
  await seconds(0);
  outbox.add = change('add', adding.promise);
  void publish(event(2));
  await seconds(0);
  expect(calls).toEqual(['remove', 'add']);
  const closing = close(0);
  await seconds(1);
  removing.resolve();
  await seconds(1);
  adding.resolve();
  expect(await closing).toBe(1);
  expect(calls).toEqual(['remove', 'add', 'remove ended', 'add ended', 'close']);
});

it('publishes every valid event once and in order, whatever fails, also if the response does not name invalid events', async () => {
  const fates = fc.array(fc.constantFrom('works', 'lost', { status: 503 }, { status: 500 }), { maxLength: 30 });
  const isInvalid = (revision: number) => revision % 17 === 0;
  const property = fc.asyncProperty(fates, fc.array(fc.integer({ min: 1, max: 40 })), async (outcomes, sizes) => {
    const fate = ({ events }: { events: NewEvent[] }) => {
      const outcome = outcomes.shift() ?? 'works';
      const isRejected = typeof outcome === 'string' && revisionsOf(events).some(isInvalid);
      return isRejected ? { status: 413, problem: { code: 'payload_too_large' } } : outcome;
    };
    const { access, accepted, maxInFlight } = ingest({ fate } as never);
    const { publishAll, close, rejected } = await reporting(access);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let published = 0;
    for (const size of sizes) {
      await publishAll(upTo(size).map((i) => published + i));
      published += size;
      await seconds(0.4);
    }
    await seconds(2000);
    expect(await close()).toBe(0);
    expect(revisionsOf(accepted)).toEqual(upTo(total).filter((revision) => !isInvalid(revision)));
    expect(revisionsOf(rejected.map(([each]) => each))).toEqual(upTo(total).filter(isInvalid));
    expect(maxInFlight()).toBeLessThanOrEqual(1);
  });
  await fc.assert(property, { numRuns: 50 });
});
