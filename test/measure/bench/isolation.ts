import type { LocalStack } from '../../../infra/local/stack.ts';
import { type Listening, listening, textOf } from './http.ts';
import { median } from './median.ts';
import { createProject } from './project.ts';
import { startBench } from './stack.ts';

const HEALTHY = 10;
/** The interval of events to each endpoint. */
const INTERVAL_MS = 1000;
const SECONDS = 20;
const REPEATS = 3;
/** The warm-up, in which functions start and endpoints get their lanes. */
const WARM_UP_SECONDS = 8;
/** The time in the measurement when the good endpoint starts to hang. */
const TURNS_AFTER_SECONDS = 4;

/**
 * The behavior of the other endpoints at the same rate: respond, hang, or respond first and hang later. Of realistic endpoints,
 * four in ten fail and two hang.
 */
type Behaviour = 'respond' | 'hang' | 'begin to hang' | 'do as they like';

/**
 * Measures p50 and p99 from publication to receipt at ten healthy endpoints with one event per second each, next to other
 * endpoints that hang. Returns the ratio to the same with ten other endpoints that respond. Only two of 200 receipts are above
 * p99, so each value is the median of `REPEATS` runs.
 */
export async function measureIsolation(assembly: string) {
  await run(assembly, 1, 'respond', 5); // warms the machine up
  const rows: Record<string, object> = {};
  const cases: [others: number, behaviours: Behaviour[]][] = [
    [1, ['respond', 'hang', 'begin to hang']],
    [10, ['respond', 'do as they like', 'hang']],
  ];
  for (const [others, behaviours] of cases) {
    const runs = new Map<Behaviour, Latencies[]>(behaviours.map((behaviour) => [behaviour, []]));
    for (let i = 0; i < REPEATS; i++)
      for (const [behaviour, measured] of runs) measured.push(await run(assembly, others, behaviour));
    const healthy = medians(runs.get('respond') ?? []);
    for (const [behaviour, measured] of runs)
      rows[`beside ${others} that ${behaviour}`] = row(medians(measured), healthy);
  }
  return rows;
}

type Latencies = Awaited<ReturnType<typeof run>>;

const medians = (runs: readonly Latencies[]): Latencies => ({
  p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(runs.map(({ p99Ms }) => p99Ms)),
});

const row = (measured: Latencies, healthy: Latencies) => ({
  p50_ms: Math.round(measured.p50Ms),
  p99_ms: Math.round(measured.p99Ms),
  p50_ratio: (measured.p50Ms / healthy.p50Ms).toFixed(2),
  p99_ratio: (measured.p99Ms / healthy.p99Ms).toFixed(2),
});

async function run(assembly: string, others: number, behaviour: Behaviour, seconds = SECONDS) {
  const { stack, stop } = await startBench(assembly, { spares: true });
  const rounds = WARM_UP_SECONDS + seconds;
  let round = 0;
  let received = 0;
  const latencies: number[] = [];
  const healthy = await listening(async (request, response) => {
    const body = await textOf(request);
    response.writeHead(200).end();
    const { timestamp, data } = JSON.parse(body);
    if (data.revision > WARM_UP_SECONDS) latencies.push(Date.now() - Date.parse(timestamp));
    received++;
  });
  const respondWith = (status: () => number | null) =>
    listening((_, response) => {
      const code = status();
      if (code !== null) response.writeHead(code).end();
    });
  const responding = await respondWith(() => 200);
  const failing = await respondWith(() => 500);
  const hanging = await respondWith(() => null);
  const turning = await respondWith(() => (round > WARM_UP_SECONDS + TURNS_AFTER_SECONDS ? null : 200));
  const kinds: Record<Behaviour, Listening[]> = {
    respond: [responding],
    hang: [hanging],
    'begin to hang': [turning],
    'do as they like': [failing, responding, hanging, failing, responding],
  };
  const otherOf = (i: number) => kinds[behaviour][i % kinds[behaviour].length] ?? responding;

  // Each endpoint belongs to a different customer. They alternate, so that the rate is steady.
  const endpoints = [...Array.from({ length: others }, (_, i) => otherOf(i)), ...Array(HEALTHY).fill(healthy)];
  const publishers = [];
  for (const endpoint of endpoints) publishers.push(await publisherTo(stack, endpoint));
  // One endpoint always hangs, so that the functions of the slow lane have started too.
  const publishHanging = await publisherTo(stack, hanging);
  const published: Promise<unknown>[] = [];
  const startedAt = performance.now();
  for (round = 1; round <= rounds; round++) {
    if (round <= WARM_UP_SECONDS / 2) published.push(publishHanging(round));
    for (const [i, publish] of publishers.entries()) {
      await until(startedAt + (round + i / publishers.length) * INTERVAL_MS);
      published.push(publish(round));
    }
  }
  await Promise.all(published);
  while (received < HEALTHY * rounds) await until(performance.now() + 50);
  for (const { close } of [healthy, responding, failing, hanging, turning]) close();
  await stop();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.ceil(latencies.length * share) - 1] ?? Number.NaN; // nearest rank
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

const until = (time: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())));

/** Creates a project with one webhook, and returns a function that publishes an event to it. */
async function publisherTo(stack: LocalStack, { url }: Listening): Promise<(revision: number) => Promise<unknown>> {
  const { post } = await createProject(stack);
  await post('/v1/webhooks', { url, events: ['document.deleted'] });
  return (revision) =>
    post('/v1/events', { type: 'document.deleted', data: { document_key: 'a', revision, origin: 'bench' } });
}
