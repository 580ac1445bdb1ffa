import { randomUUID } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LocalFunction, THROTTLED } from '../../../infra/local/lambda/lambda.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { eventually } from '../../support/service.ts';
import { createFunction } from './functions.ts';

const HANG = 'exports.handler = async ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms, "ok"));';
// Creates a file when it starts, and returns its environment when another file exists.
const ID = `
  const { existsSync, writeFileSync } = require('node:fs');
  const id = Math.random();
  exports.handler = async ({ file }) => {
    writeFileSync(file + id, '');
    while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
    return id;
  };`;
const directory = temporaryDirectory();

/** Starts as many concurrent invocations as there can be environments, and ends them when all are busy. */
async function fill(fn: LocalFunction, count: number): Promise<string> {
  const name = randomUUID();
  const file = join(directory, name);
  const running = Array.from({ length: count }, () => fn.invoke({ file }));
  await eventually(() => readdirSync(directory).filter((each) => each.startsWith(name)).length === count);
  expect([fn.busy, fn.size]).toEqual([count, count]);
  writeFileSync(file, '');
  expect(new Set(await Promise.all(running)).size).toBe(count);
  return file;
}

describe('the execution environments of a function', () => {
  it('grow with concurrent invocations up to the limit', async () => {
    const fn = createFunction(ID, { options: { concurrency: 3 } });
    expect(fn.size).toBe(0);
    const file = await fill(fn, 3);
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => fn.invoke({ file })))).size).toBeLessThan(4);
    expect([fn.busy, fn.size]).toEqual([0, 3]);
  });

  it('are stopped when they are idle, and never when they are busy', async () => {
    const fn = createFunction(ID, { options: { concurrency: 3, idleMs: 100 } });
    const [long, short] = [join(directory, randomUUID()), join(directory, randomUUID())];
    const running = fn.invoke({ file: long });
    const others = [fn.invoke({ file: short }), fn.invoke({ file: short })];
    await eventually(() => fn.size === 3);
    writeFileSync(short, '');
    await Promise.all(others);
    await eventually(() => fn.size === 1);
    expect(fn.busy).toBe(1);
    writeFileSync(long, '');
    await running;
    await eventually(() => fn.size === 0);
    expect(await fn.invoke({ file: long })).toEqual(expect.any(Number));
  });

  it('fail one invocation each when they end while loading', async () => {
    const fn = createFunction('process.exit(0);', { options: { concurrency: 2 } });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => fn.invoke({})));
    expect(results).toEqual(
      Array(5).fill({ status: 'rejected', reason: expect.objectContaining({ name: 'Runtime.ExitError' }) }),
    );
    expect([fn.busy, fn.size]).toEqual([0, 0]);
  });

  it('start a waiting invocation after a crash', async () => {
    const source = 'exports.handler = async ({ crash }) => (crash ? process.exit(1) : "ok");';
    const fn = createFunction(source, { options: { concurrency: 1 } });
    const crash = fn.invoke({ crash: true });
    const next = fn.invoke({});
    await expect(crash).rejects.toMatchObject({ name: 'Runtime.ExitError' });
    expect(await next).toBe('ok');
    expect(fn.size).toBe(1);
  });

  it('can be killed while busy', async () => {
    const fn = createFunction(HANG, { options: { concurrency: 2 } });
    expect(fn.killOne()).toBe(false);
    await fn.invoke({ ms: 0 });
    expect(fn.killOne()).toBe(false);
    const hanging = fn.invoke({ ms: 60_000 });
    await Promise.resolve(); // it has an environment
    expect(fn.killOne()).toBe(true);
    await expect(hanging).rejects.toMatchObject({ name: 'Runtime.ExitError' });
    expect([fn.busy, fn.size]).toEqual([0, 0]);
  });

  it('are removed by a stop, even with waiting invocations', async () => {
    const fn = createFunction(HANG, { options: { concurrency: 1 } });
    const running = fn.invoke({ ms: 60_000 });
    const waiting = fn.invoke({ ms: 0 });
    waiting.catch(() => {});
    const stopped = expect(running).rejects.toMatchObject({ name: 'Runtime.ExitError' });
    await fn.stop();
    await stopped;
    await expect(fn.invoke({})).rejects.toThrow('stopped');
    expect(fn.size).toBe(0);
  });
});

describe('a function with reserved concurrency', () => {
  it('throttles invocations over the limit immediately', async () => {
    const fn = createFunction(HANG, { options: { concurrency: 8 }, properties: { ReservedConcurrentExecutions: 2 } });
    const running = [fn.invoke({ ms: 500 }), fn.invoke({ ms: 500 })];
    await expect(fn.invoke({ ms: 0 })).rejects.toMatchObject({ name: THROTTLED });
    expect(await Promise.all(running)).toEqual(['ok', 'ok']);
    expect(await fn.invoke({ ms: 0 })).toBe('ok');
  });
});
