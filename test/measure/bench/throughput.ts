import type { LocalStack } from '../../../infra/local/stack.ts';
import { changed } from '../../support/changed.ts';
import { startEndpoint } from './endpoint-process.ts';
import { median } from './median.ts';
import { createProject } from './project.ts';
import { startPublisher } from './publisher-process.ts';
import { startBench } from './stack.ts';

const EVENTS = 1000;
const BATCH = 100;
const REPEATS = 5;
/** Warm-up rounds, in which functions start, code is compiled and endpoints get their lanes. */
const WARM_UP = 3;
/** The publishers with one request per event, and the rate and the number of events if the rate is limited. */
const PUBLISHERS = 32;
const STEADY_PER_SECOND = 50;
const STEADY_EVENTS = 250;

const event = (i: number) => changed({ document_key: `org:acme:doc-${i}` });

/**
 * Measures events from their publication, in batches of 100, one per request, or with the publisher of the npm package, to the last
 * delivery. Compares their rates with one request per event. Counts the CPU time of this process, which runs the local stack except for
 * the database, the endpoint and the publisher. `in_functions_ms` is the part of the worker threads, for which Lambda charges on AWS. The
 * rest is API Gateway, SQS, IAM and the proxy of the table.
 */
export async function measureThroughput(assembly: string) {
  const { stack, stop } = await startBench(assembly);
  const endpoint = await startEndpoint();
  const publisher = await startPublisher();
  const { post, adminKey } = await createProject(stack);
  await post('/v1/webhooks', { url: endpoint.url, events: ['document.changed'] });
  const access = { baseUrl: stack.baseUrl, adminKey };
  const single = { ...access, together: PUBLISHERS };
  const oneByOne = `one request each, ${PUBLISHERS} publishers`;
  const steady = { ...single, events: STEADY_EVENTS, perSecond: STEADY_PER_SECOND };
  const cases: [name: string, deliveries: number, run: () => Promise<void>][] = [
    ['1 webhook', EVENTS, await publisherTo(stack, endpoint.url)],
    [oneByOne, EVENTS, () => publisher.publish({ ...single, events: EVENTS })],
    ['publisher of the npm package', EVENTS, () => publisher.publish({ ...access, events: EVENTS })],
    [`one request each, ${STEADY_PER_SECOND} per second`, STEADY_EVENTS, () => publisher.publish(steady)],
  ];
  const taken = new Map<string, Usage[]>(cases.map(([name]) => [name, []]));
  for (let i = 0; i < WARM_UP + REPEATS; i++) {
    for (const [name, deliveries, run] of cases) {
      const usage = await usageOf(endpoint, deliveries, run);
      if (i >= WARM_UP) taken.get(name)?.push(usage);
    }
  }
  endpoint.stop();
  publisher.stop();
  await stop();
  const perSecond = (name: string) => 1 / median((taken.get(name) ?? []).map(({ seconds }) => seconds));
  return Object.fromEntries(
    [...taken].map(([name, runs]) => [
      name,
      {
        a_second: Math.round(perSecond(name)),
        to_one_request_each: Number((perSecond(name) / perSecond(oneByOne)).toPrecision(2)),
        cpu_ms_each: Number(median(runs.map(({ cpuMs }) => cpuMs)).toPrecision(3)),
        in_functions_ms: Number(median(runs.map(({ functionsMs }) => functionsMs)).toPrecision(3)),
      },
    ]),
  );
}

/** The usage of one delivery. */
interface Usage {
  seconds: number;
  cpuMs: number;
  /** The part of the other threads. */
  functionsMs: number;
}

/** Measures the deliveries that an action causes, until the last one has a response. */
async function usageOf(
  endpoint: Awaited<ReturnType<typeof startEndpoint>>,
  deliveries: number,
  act: () => Promise<void>,
): Promise<Usage> {
  const before = await endpoint.received();
  const [started, cpu, main] = [performance.now(), process.cpuUsage(), process.threadCpuUsage()];
  await act();
  while ((await endpoint.received()) < before + deliveries) await new Promise((done) => setTimeout(done, 5));
  const cpuMs = sum(process.cpuUsage(cpu)) / 1000 / deliveries;
  return {
    seconds: (performance.now() - started) / 1000 / deliveries,
    cpuMs,
    functionsMs: cpuMs - sum(process.threadCpuUsage(main)) / 1000 / deliveries,
  };
}

const sum = ({ user, system }: NodeJS.CpuUsage): number => user + system;

/** Creates a project with a webhook, and returns a function that publishes events to it. */
async function publisherTo(stack: LocalStack, url: string): Promise<() => Promise<void>> {
  const { post } = await createProject(stack);
  await post('/v1/webhooks', { url: `${url}0`, events: ['document.changed'] });
  return async () => {
    for (let from = 0; from < EVENTS; from += BATCH)
      await post('/v1/events/batch', { events: Array.from({ length: BATCH }, (_, i) => event(from + i)) });
  };
}
