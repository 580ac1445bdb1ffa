import { readFileSync } from 'node:fs';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { FunctionError, type LocalFunction } from '../../../infra/local/lambda/lambda.ts';
import { ServiceError, type ServiceRequest } from '../../../infra/local/services/endpoints.ts';
import type { LocalQueue } from '../../../infra/local/services/sqs.ts';
import { changed } from '../../support/changed.ts';
import { logEvents, matchesPattern } from '../../support/cloudwatch/logs.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish, publishAll, settled } from '../../support/requests.ts';
import { type Client, eventually, FAST, type Project, useService } from '../../support/service.ts';

// A unique limit, so that no other file shares the stack that these tests break.
const service = useService({ ...FAST, concurrency: 15 });
const MINUTE_MS = 60_000;

let project: Project;
let live: Client;

beforeAll(async () => {
  project = await service.project();
  live = await project.client('live');
});

const nameOf = (id: string): string => id.replace(/^Observability(\w+?)[0-9A-F]{8}$/, '$1');

/** Performs work in each of `count` minutes. Returns the alarms that fired at the end of any minute. */
async function minutes(count: number, work: (minute: number) => unknown = () => {}): Promise<string[]> {
  const rang = new Set<string>();
  for (let minute = 0; minute < count; minute++) {
    await work(minute);
    for (const id of service.stack.cloudWatch.passMinute()) rang.add(nameOf(id));
    service.stack.clock.advance(MINUTE_MS);
    await turn(); // lets the agent drop connections whose time has ended, before the server resets them
  }
  return [...rang].sort();
}

const times = (count: number, work: () => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, work));

function functionOf(name: string): LocalFunction {
  const fn = [...service.stack.functions.values()].find(({ id }) => id.startsWith(name));
  if (!fn) throw new Error(`There is no function ${name}`);
  return fn;
}

function queueOf(name: string): LocalQueue {
  const queue = service.stack.queues.get(name);
  if (!queue) throw new Error(`There is no queue ${name}`);
  return queue;
}

/** The functions that undo the breakage of the current test. */
const cures: (() => void)[] = [];

function purge(queue: LocalQueue): void {
  for (const { receiptHandle } of queue.receive(100)) queue.delete(receiptHandle);
}

function disable(mappingId: string): void {
  const mapping = service.stack.mappings.get(mappingId);
  if (!mapping) throw new Error(`There is no mapping ${mappingId}`);
  mapping.Enabled = false;
  cures.push(() => {
    mapping.Enabled = true;
  });
}

/** Throttles every invocation of a function. */
function throttle(name: string): void {
  const fn = functionOf(name);
  const metric = { namespace: 'AWS/Lambda', name: 'Throttles', dimensions: { FunctionName: fn.id } };
  const spy = vi.spyOn(fn, 'invoke').mockImplementation(async () => {
    service.stack.cloudWatch.put(metric, 1);
    throw new FunctionError('TooManyRequestsException', 'Rate Exceeded.');
  });
  cures.push(() => spy.mockRestore());
}

/** Makes every invocation of a function time out. Returns a function that waits for one more invocation. */
function timeOut(name: string): () => Promise<void> {
  const fn = functionOf(name);
  let count = 0;
  const spy = vi.spyOn(fn, 'invoke').mockImplementation(async () => {
    await sleep(20);
    count++;
    throw new FunctionError('Sandbox.Timedout', 'Task timed out');
  });
  cures.push(() => spy.mockRestore());
  return async () => {
    const before = count;
    await eventually(() => count > before);
  };
}

/** Calls `before` with each request of a function to the table. An error that it throws is the response. */
function interceptTable(before: (request: ServiceRequest) => void): void {
  const { endpoints } = service.stack;
  endpoints.wrap('dynamodb', (table) => {
    cures.push(() => endpoints.wrap('dynamodb', () => table));
    return (request) => {
      before(request);
      return table(request);
    };
  });
}

afterEach(async () => {
  for (const cure of cures.splice(0)) cure();
  const summaries = queueOf('Summaries');
  await eventually(() => Object.values(summaries.counts()).every((count) => count === 0));
  await minutes(190); // until the longest evaluation range has passed
  expect(await minutes(1)).toEqual([]);
});

/** Returns how often a metric was counted. A line contains several values if one invocation counts more than once. */
function countOf(metric: string): number {
  const found = service.log.join('').matchAll(new RegExp(`"${metric}":(\\[[\\d,]+\\]|1)`, 'g'));
  return [...found].reduce((sum, [, values = '']) => sum + values.split(',').length, 0);
}

/** Delivers an event at its first attempt. */
async function deliver(): Promise<void> {
  const receiver = await startReceiver();
  const webhook = await createWebhook(live, receiver.url);
  const { id } = (await publish(live)).body;
  expect((await settled(live, webhook.id, id)).status).toBe('succeeded');
  await live('DELETE', `/v1/webhooks/${webhook.id}`);
}

it('fires no alarm while deliveries succeed, an endpoint fails and invalid credentials arrive', async () => {
  const receiver = await startReceiver();
  receiver.behave(500);
  const webhook = await createWebhook(live, receiver.url);
  const { id } = (await publish(live)).body;
  await settled(live, webhook.id, id);
  const rang = await minutes(20, async (minute) => {
    if (minute % 5 === 0) await deliver();
    if (minute >= 5) return; // the later deliveries keep each period of five minutes busy
    await times(20, () => service.as(`svc_live_${'0'.repeat(50)}`)('GET', '/v1/webhooks'));
    await times(5, () => live('GET', '/v1/none'));
  });
  expect(rang).toEqual([]);
  await live('DELETE', `/v1/webhooks/${webhook.id}`);
});

it('finds internal failures with the filter of the runbook, but no errors of invalid credentials', async () => {
  const [, filter = ''] = /use the filter `(\{ \$\.level[^`]+)`/.exec(readFileSync('infra/RUNBOOK.md', 'utf8')) ?? [];
  const printedBefore = service.log.length;
  const printed = () =>
    logEvents(
      service.log
        .slice(printedBefore)
        .join('')
        .replace(/^\S+ (?=\{)/gm, ''),
    );
  await service.as(`svc_live_${'0'.repeat(50)}`)('GET', '/v1/webhooks');
  await service.stack.invoke('DeliveryDeliverB', { Records: [SQS_RECORD] });
  const errors = await eventually(() => {
    const found = printed().filter(({ level }) => level === 'ERROR');
    return found.length === 2 ? found : undefined;
  });
  const found = errors.filter((event) => matchesPattern(filter, event));
  expect(found).toEqual([expect.objectContaining({ message: 'delivery.handling_failed' })]);
});

/** Breaks one part of the service, and lists the alarms that must fire. */
const BREAKAGES: [name: string, alarms: string[], rings: () => Promise<string[]>][] = [
  ...['DeadLetters', 'FailedSchedules'].map((queue): (typeof BREAKAGES)[number] => [
    `a message is in ${queue}`,
    [`${queue}NotEmpty`],
    async () => {
      queueOf(queue).send('{}');
      cures.push(() => purge(queueOf(queue)));
      return minutes(1);
    },
  ]),
  ...(
    [
      ['Deliveries', 'DeliverSource', 'DeliveriesAge', 20],
      ['NewDeliveries', 'DeliverNewSource', 'NewDeliveriesAge', 20],
      ['SlowDeliveries', 'DeliverSlowSource', 'SlowDeliveriesAge', 20],
      ['Checks', 'CheckSource', 'ChecksAge', 30],
      ['Summaries', 'EmailEventsSource', 'SummariesAge', 25],
    ] as const
  ).map(([queue, mapping, alarm, lateAfter]): (typeof BREAKAGES)[number] => [
    `nothing takes messages from ${queue}`,
    [alarm],
    async () => {
      disable(mapping);
      queueOf(queue).send('{}');
      cures.unshift(() => purge(queueOf(queue)));
      expect(await minutes(lateAfter)).toEqual([]);
      return minutes(6);
    },
  ]),
  [
    'the fan-out times out for more than five minutes',
    ['StreamAge'],
    async () => {
      const tried = timeOut('DeliveryFanOut');
      await publish(live);
      return minutes(11, tried);
    },
  ],
  [
    'the stats time out for more than 15 minutes',
    ['StatsAge'],
    async () => {
      const tried = timeOut('StatsCount');
      await deliver();
      return minutes(21, tried);
    },
  ],
  [
    'the mapping of the fan-out is disabled',
    ['FanOutStopped'],
    async () => {
      disable('FanOutSource');
      await publish(live);
      return minutes(21);
    },
  ],
  [
    'the mapping of the stats is disabled',
    ['StatsStopped'],
    async () => {
      disable('CountSource');
      return minutes(21);
    },
  ],
  [
    'the fan-out fails for half a day',
    ['FailedEvents'],
    async () => {
      const tried = timeOut('DeliveryFanOut');
      await publish(live);
      await tried();
      service.stack.clock.advance(13 * 60 * MINUTE_MS);
      const [bucket] = service.stack.buckets.values();
      await eventually(() => bucket && bucket.size > 0);
      bucket?.clear();
      return minutes(1);
    },
  ],
  [
    'the fan-out sets an event aside',
    ['FailedEvents'],
    async () => {
      const [bucket] = service.stack.buckets.values();
      await service.stack.invoke('DeliveryFanOut', { Records: [UNREADABLE] });
      await eventually(() => countOf('EventsSetAside') > 0);
      bucket?.clear();
      return minutes(1);
    },
  ],
  [
    'units of work have internal failures',
    ['HandlingFailures'],
    () =>
      minutes(15, async () => {
        const before = countOf('HandlingFailures');
        await service.stack.invoke('DeliveryDeliverB', { Records: Array(6).fill(SQS_RECORD) });
        await eventually(() => countOf('HandlingFailures') === before + 6);
      }),
  ],
  [
    'a function of the API cannot run',
    ['ServerErrors'],
    () => {
      throttle('Project');
      return minutes(3, () => times(6, () => project.admin('GET', '/v1/project')));
    },
  ],
  [
    'the usage plan lacks the share of a project',
    ['ServerErrors'],
    () => {
      const fn = functionOf('Authorize');
      const invoke = fn.invoke.bind(fn);
      const spy = vi
        .spyOn(fn, 'invoke')
        .mockImplementation(async (event) => ({ ...((await invoke(event)) as object), usageIdentifierKey: 'none' }));
      cures.push(() => spy.mockRestore());
      return minutes(3, () => times(6, () => project.admin('GET', '/v1/project')));
    },
  ],
  [
    'all five requests of each minute fail',
    ['ServerErrorShare'],
    () => {
      throttle('Project');
      return minutes(15, () => times(5, () => project.admin('GET', '/v1/project')));
    },
  ],
  [
    'five of six attempts fail',
    ['FailedShare'],
    async () => {
      const receiver = await startReceiver((response, _, { headers }) =>
        response.writeHead(headers['x-service-attempt'] === '6' ? 200 : 500).end(),
      );
      const webhook = await createWebhook(live, receiver.url);
      const rang = await minutes(15, async (minute) => {
        if (minute % 5 > 0) return;
        const ids = await publishAll(live, Array(5).fill(changed()));
        for (const id of ids) await settled(live, webhook.id, id);
      });
      await live('DELETE', `/v1/webhooks/${webhook.id}`);
      return rang;
    },
  ],
  [
    'the service disables eleven webhooks in an hour',
    ['DisabledWebhooks'],
    async () => {
      const receiver = await startReceiver(500);
      const before = countOf('Disabled');
      // Each webhook causes two emails, and no project gets so many that a summary follows.
      for (const count of [2, 2, 2, 2, 2, 1]) {
        const client = await (await service.project()).client('live');
        for (let i = 0; i < count; i++) await createWebhook(client, receiver.url);
        await publish(client);
      }
      await eventually(() => countOf('Disabled') - before === 11);
      return minutes(1);
    },
  ],
  [
    'requests take more than five seconds',
    ['Latency'],
    () => {
      interceptTable(({ principal }) => {
        if (principal.startsWith('Project')) service.stack.clock.advance(6000);
      });
      return minutes(15, () => project.admin('GET', '/v1/project'));
    },
  ],
  ['the table throttles reads', ['TableThrottles'], () => throttled('Project', 'GetItem', '/v1/project')],
  ['an index of the table throttles reads', ['TableThrottles'], () => throttled('Keys', 'Query', '/v1/keys')],
  [
    'a function that a queue feeds crashes',
    ['WorkerErrors'],
    () => minutes(15, () => service.stack.invoke('ConnectionsCheck', null).catch(() => {})),
  ],
  [
    'Lambda throttles a function that no caller waits for',
    ['WorkerThrottles'],
    () => {
      throttle('DeliveryFanOut');
      const invoke = () => service.stack.invoke('DeliveryFanOut', { Records: [] }).catch(() => {});
      return minutes(3, () => times(11, invoke));
    },
  ],
  ['emails bounce', ['EmailBounceRate'], () => sentTo('bounce@example.com')],
  ['readers complain about emails', ['EmailComplaintRate'], () => sentTo('complaint@example.com')],
];

const UNREADABLE = {
  dynamodb: { SequenceNumber: '1', Keys: { pk: { S: 'EVENT#' }, sk: { S: 'evt_1' } }, NewImage: { data: {} } },
};
const SQS_RECORD = { messageId: 'm', body: 'no message', attributes: {}, eventSource: 'aws:sqs' };

/** Throttles each read once, so that the retry of the SDK succeeds. A query of an index counts only for the index. */
function throttled(role: string, action: string, path: string): Promise<string[]> {
  interceptTable(({ principal, action: called, headers, input }) => {
    const isFirst = headers['amz-sdk-request']?.includes('attempt=1;');
    if (!principal.startsWith(role) || called !== action || !isFirst) return;
    const { TableName = '', IndexName } = input as { TableName?: string; IndexName?: string };
    const dimensions = { TableName, ...(IndexName !== undefined && { GlobalSecondaryIndexName: IndexName }) };
    service.stack.cloudWatch.put({ namespace: 'AWS/DynamoDB', name: 'ReadThrottleEvents', dimensions }, 1);
    throw new ServiceError('ThrottlingException', 'Injected');
  });
  return minutes(3, () => times(11, () => project.admin('GET', path)));
}

function sentTo(to: string): Promise<string[]> {
  const email = { to, from: '', subject: '', text: '', html: '', at: '' };
  const spy = vi.spyOn(service.stack.ses, 'emails', 'get').mockReturnValue([email]);
  cures.push(() => spy.mockRestore());
  return minutes(60);
}

describe('only the alarm of the part fires when', () => {
  it.each(BREAKAGES)('%s: %j', async (_name, alarms, rings) => {
    expect(await rings()).toEqual(alarms);
  });

  it('any part breaks, which covers every alarm of the template', () => {
    const tested = new Set(BREAKAGES.flatMap(([, alarms]) => alarms));
    expect([...tested].sort()).toEqual(service.stack.cloudWatch.alarms.map(({ id }) => nameOf(id)).sort());
  });
});
