import { fork } from 'node:child_process';
import { once } from 'node:events';
import { percentile } from '../../support/percentile.ts';
import type { Latency, Others } from './isolation-endpoints.ts';
import { createProject } from './project.ts';
import { startBench } from './stack.ts';

const HEALTHY = 10;
/** Events per second, each for every endpoint. */
const RATES = [1, 10];
const OTHERS = [1, 10];
/** Not measured: functions start, and endpoints show how quick they are. */
const WARM_UP_MS = 8000;
const BEFORE_MS = 8000;
const FIRST_MS = 2000;
const LATER_MS = 10_000;
/** The runs of a case, by rate. The p99 of fewer events would be that of the slowest single event. */
const RUNS: Readonly<Record<number, number>> = { 10: 3 };

/** Milliseconds from publication to receipt at the healthy endpoints. */
interface Latencies {
  before: number;
  first: number;
  later: number;
}

/**
 * The p99 from publication to receipt at ten healthy endpoints of a project, before and after other endpoints of the same project
 * stop responding: in the first 2 seconds, and later. Each ratio is to the time before.
 */
export async function measureIsolation(assembly: string) {
  await run(assembly, 10, 1); // warms the machine up
  const rows: Record<string, object> = {};
  for (const rate of RATES)
    for (const others of OTHERS)
      rows[`${rate}/s, beside ${others} that stop responding`] = rowOf(await run(assembly, rate, others));
  return rows;
}

const rowOf = ({ before, first, later }: Latencies) => ({
  p99_before_ms: Math.round(before),
  p99_first_2s_ms: Math.round(first),
  p99_later_ms: Math.round(later),
  ratio_first_2s: (first / before).toFixed(2),
  ratio_later: (later / before).toFixed(2),
});

async function run(assembly: string, rate: number, count: number): Promise<Latencies> {
  const latencies: Latency[] = [];
  for (let i = 0; i < (RUNS[rate] ?? 1); i++) {
    const changesAt = Date.now() + WARM_UP_MS + BEFORE_MS;
    const delivered = await deliver(assembly, { count, changesAt }, rate, changesAt + FIRST_MS + LATER_MS);
    latencies.push(...delivered.map(({ at, ms }) => ({ at: at - changesAt, ms })));
  }
  const between = (from: number, to: number) => p99(latencies.filter(({ at }) => at >= from && at < to));
  return {
    before: between(-BEFORE_MS, 0),
    first: between(0, FIRST_MS),
    later: between(FIRST_MS, FIRST_MS + LATER_MS),
  };
}

/** Publishes events at a rate until a time, to healthy endpoints and to others. Returns the latencies of the healthy ones. */
async function deliver(assembly: string, others: Others, rate: number, untilMs: number): Promise<Latency[]> {
  const { stack, stop } = await startBench(assembly);
  const { post } = await createProject(stack);
  const endpoints = fork(new URL('./isolation-endpoints.ts', import.meta.url));
  endpoints.send(others);
  const [[healthy = '', ...rest]] = (await once(endpoints, 'message')) as [string[]];
  for (const [i, url] of [...Array<string>(HEALTHY).fill(healthy), ...rest].entries())
    await post('/v1/webhooks', { url: `${url}${i}`, events: ['document.deleted'] });
  const published: Promise<unknown>[] = [];
  const startedAt = Date.now();
  for (let i = 0; startedAt + (i * 1000) / rate < untilMs; i++) {
    await until(startedAt + (i * 1000) / rate);
    const data = { document_key: 'a', revision: i + 1, origin: 'bench' };
    const publish = () => post('/v1/events', { type: 'document.deleted', data });
    published.push(publish().catch(publish).catch(publish)); // a 503 asks for a repetition
  }
  await Promise.all(published);
  const latencies: Latency[] = [];
  while (latencies.length < HEALTHY * published.length) {
    endpoints.send('latencies');
    const [more] = (await once(endpoints, 'message')) as [Latency[]];
    latencies.push(...more);
    await until(Date.now() + 50);
  }
  endpoints.disconnect();
  await stop();
  return latencies;
}

const p99 = (latencies: readonly Latency[]): number =>
  percentile(
    latencies.map(({ ms }) => ms),
    0.99,
  );

const until = (time: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, time - Date.now())));
