import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { EnvironmentPool } from '../../../infra/local/lambda/environment-pool.ts';
import type { ExecutionEnvironment } from '../../../infra/local/lambda/execution-environment.ts';
import { createFunction } from './functions.ts';
import { startGateway } from './gateway.ts';

const MAX_RESPONSE_BYTES = 6_291_556;
const echo = () => createFunction('exports.handler = async (event) => event;');
const EXITED = 'Runtime.ExitError';
const nameOf = (name: string) => expect.objectContaining({ name });

describe('an event', () => {
  it('is serialized as JSON for the handler, and so is the result', async () => {
    const event = JSON.parse('{"__proto__":{"a":1},"constructor":"b","c":[null,1.5,"\\u0000漢"]}');
    const at = new Date(0);
    expect(await echo().invoke({ ...event, at, none: undefined })).toEqual({ ...event, at: at.toISOString() });
    expect(await createFunction('exports.handler = async () => {};').invoke({})).toBeNull();
  });
});

describe('a response', () => {
  it.each([
    ['at the size limit of Lambda is accepted', 'é', (MAX_RESPONSE_BYTES - 2) / 2, true], // two quotes, two bytes each
    ['one byte over the limit is a function error', 'a', MAX_RESPONSE_BYTES - 1, false],
    ['with escapes that exceed the limit is a function error', '"', MAX_RESPONSE_BYTES / 2, false],
  ])('%s', async (_, text, count, isAccepted) => {
    const fn = createFunction('exports.handler = async ({ text, count }) => text.repeat(count);');
    const response = await fn.invoke({ text, count }).catch(({ name }: Error) => name);
    expect(response === (isAccepted ? text.repeat(count) : 'Function.ResponseSizeTooLarge')).toBe(true);
  });
});

describe('a request', () => {
  it('is rejected over 6 MB as the event of a function', async () => {
    const fn = echo();
    const { url } = await startGateway({ invoke: (event) => fn.invoke(event) });
    const post = (body: string) => fetch(`${url}/v1/events`, { method: 'POST', headers: { Authorization: 'x' }, body });
    expect((await post('a'.repeat(6_291_456))).status).toBe(413);
    for (const twoBytes of ['"', 'é']) expect((await post(twoBytes.repeat(3_200_000))).status).toBe(413);
  });
});

describe('a function that fails', () => {
  const ending = (thrown: string) => `setImmediate(() => { throw ${thrown} }); await new Promise(() => {})`;

  it.each([
    ['throws', `throw new TypeError('no')`, 'TypeError', ''],
    ['throws what is no error', 'throw null', 'Error', ''],
    ['returns what JSON cannot carry', 'return 1n', 'TypeError', ''],
    ['ends its environment', 'process.exit(0)', EXITED, ''],
    ['throws nothing where nobody waits', ending('null'), EXITED, 'null\n'],
    ['fails where nobody waits', ending('new Error()'), EXITED, 'Error\n    at '],
    [
      'takes more memory than it has',
      'const a = []; for (;;) a.push(new Array(1e5).fill({}))',
      EXITED,
      'OUT_OF_MEMORY',
    ],
  ])('reports that it %s, and the invocation that waits for it runs', async (_name, code, name, line) => {
    const source = `exports.handler = async (event) => { if (event.fail) { ${code} } return 'ok'; };`;
    const printed: string[] = [];
    const options = { concurrency: 1, output: (_id: string, text: string) => void printed.push(text) };
    const fn = createFunction(source, { options });
    const failed = expect(fn.invoke({ fail: true })).rejects.toEqual(nameOf(name));
    expect(await fn.invoke({})).toBe('ok');
    await failed;
    expect(printed.join('')).toContain(line);
  });

  it.each([
    ['throws', `throw new TypeError('no')`, 'TypeError'],
    ['ends its environment', 'process.exit()', EXITED],
  ])('reports that it %s while it loads', async (_, source, name) => {
    await expect(createFunction(source).invoke({})).rejects.toEqual(nameOf(name));
  });

  it('reports a timeout, and its environment is not reused', async () => {
    const source = 'let n = 0; exports.handler = ({ hang }) => hang ? new Promise(() => {}) : Promise.resolve(++n);';
    const printed: string[] = [];
    const options = { output: (_id: string, text: string) => void printed.push(text) };
    const fn = createFunction(source, { options, properties: { Timeout: 0.2 } });
    expect(await fn.invoke({})).toBe(1);
    await expect(fn.invoke({ hang: true })).rejects.toEqual(nameOf('Sandbox.Timedout'));
    expect(printed).toEqual([expect.stringMatching(/^\S+Z [0-9a-f-]{36} Task timed out after 0\.20 seconds\n$/)]);
    expect(await fn.invoke({})).toBe(1);
  });
});

it('one environment starts at a time, and none for work that others can do', async () => {
  const start = vi.fn(() => ({ ready: new Promise(() => {}) }) as unknown as ExecutionEnvironment);
  const pool = new EnvironmentPool({ maxSize: 16, start });
  for (let i = 0; i < 3; i++) void pool.acquire();
  await new Promise(setImmediate);
  expect(start).toHaveBeenCalledTimes(1);
});

describe('a spare environment', () => {
  /** A pool whose first invocation has started. */
  async function createPool(options: { keepsSpare: boolean; maxSize?: number }) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const start = vi.fn(() => ({ ready: Promise.resolve(), stop: async () => {} }) as unknown as ExecutionEnvironment);
    const pool = new EnvironmentPool({ maxSize: 16, start, ...options });
    return { pool, start, first: await pool.acquire() };
  }

  it('serves the next invocation without a wait while another one hangs, and is then replaced', async () => {
    const { pool, start } = await createPool({ keepsSpare: true });
    for (const running of [2, 3, 4]) {
      await vi.advanceTimersByTimeAsync(50);
      expect(start).toHaveBeenCalledTimes(running);
      await pool.acquire(); // no timer runs until then
    }
  });

  it.each([
    ['for invocations that end soon', { keepsSpare: true }, true],
    ['without the option', { keepsSpare: false }, false],
    ['beyond the maximum', { keepsSpare: true, maxSize: 1 }, false],
  ])('does not start %s', async (_, options, endsSoon) => {
    const { pool, start, first } = await createPool(options);
    if (endsSoon) pool.release(first);
    await vi.advanceTimersByTimeAsync(1000);
    expect(start).toHaveBeenCalledTimes(1);
  });
});

it('an environment stops after a minute without use, and not during an invocation, for whose end others wait', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stop = vi.fn(() => pool.discard(environment));
  const environment = { ready: Promise.resolve(), stop } as unknown as ExecutionEnvironment;
  const start = vi.fn(() => environment);
  const pool: EnvironmentPool = new EnvironmentPool({ maxSize: 1, start });
  pool.release(await pool.acquire());
  await pool.acquire();
  const next = pool.acquire();
  await vi.advanceTimersByTimeAsync(600_000);
  expect([start.mock.calls.length, stop.mock.calls.length]).toEqual([1, 0]);
  pool.release(environment);
  pool.release(await next);
  vi.advanceTimersByTime(59_999);
  expect(stop).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(stop).toHaveBeenCalledTimes(1);
  await pool.acquire();
  expect(start).toHaveBeenCalledTimes(2);
});
