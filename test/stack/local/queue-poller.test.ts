import { afterEach, describe, expect, it } from 'vitest';
import type { MappingProperties } from '../../../infra/local/lambda/event-sources.ts';
import { pollQueue } from '../../../infra/local/lambda/queue-poller.ts';
import type { LocalQueue } from '../../../infra/local/services/sqs.ts';
import { eventually } from '../../support/service.ts';
import { createQueue } from './queues.ts';

interface Batch {
  Records: { messageId: string; body: string; attributes: Record<string, string> }[];
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Polls a queue. Every batch runs until the test ends it. */
function startPoller(queue: LocalQueue, mapping: Partial<MappingProperties> = {}, concurrency = 20) {
  const running = new Set<{ batch: Batch; end(result?: unknown): void }>();
  let peak = 0;
  const invoke = (event: unknown) =>
    new Promise<unknown>((resolve) => {
      const each = {
        batch: event as Batch,
        end(result: unknown) {
          running.delete(each);
          resolve(result);
        },
      };
      running.add(each);
      peak = Math.max(peak, running.size);
    });
  const properties = { EventSourceArn: queue.settings.arn, FunctionName: 'fn', BatchSize: 1, ...mapping };
  stops.push(pollQueue({ queue, fn: { invoke }, mapping: properties, concurrency }), () => queue.stop());
  return { running, peak: () => peak };
}

const send = (queue: LocalQueue, count: number) => {
  for (let i = 0; i < count; i++) queue.send(`${i}`);
};

describe('the poller of a queue', () => {
  it.each([
    ['the concurrency of the stack', {}, 3, 3],
    ['the MaximumConcurrency of the mapping', { ScalingConfig: { MaximumConcurrency: 2 } }, 20, 2],
    ['the smaller of both', { ScalingConfig: { MaximumConcurrency: 20 } }, 4, 4],
  ])('runs at most as many concurrent batches as %s', async (_name, mapping, concurrency, limit) => {
    const queue = createQueue({ visibilityTimeoutSeconds: 60 });
    const { running, peak } = startPoller(queue, mapping, concurrency);
    send(queue, 12);
    await eventually(() => running.size === limit);
    expect(queue.counts()).toMatchObject({ inFlight: limit, visible: 12 - limit }); // the others are not received yet
    for (let ended = 0; ended < 12; ended++) (await eventually(() => [...running][0])).end();
    expect(peak()).toBe(limit);
  });

  it('deletes successful messages and makes the others visible again', async () => {
    const queue = createQueue();
    const { running } = startPoller(queue, { BatchSize: 10, FunctionResponseTypes: ['ReportBatchItemFailures'] });
    send(queue, 3);
    const first = await eventually(() => [...running][0]);
    const failed = first.batch.Records[1]?.messageId;
    first.end({ batchItemFailures: [{ itemIdentifier: failed }] });
    const second = await eventually(() => [...running][0]);
    expect(second.batch.Records).toMatchObject([{ body: '1', attributes: { ApproximateReceiveCount: '2' } }]);
    second.end({ batchItemFailures: [] });
    await eventually(() => queue.counts().inFlight === 0);
  });

  it('makes the complete batch visible again if the response contains an unknown id', async () => {
    const queue = createQueue();
    const { running } = startPoller(queue, { BatchSize: 10, FunctionResponseTypes: ['ReportBatchItemFailures'] });
    send(queue, 2);
    (await eventually(() => [...running][0])).end({ batchItemFailures: [{ itemIdentifier: 'another' }] });
    const again = await eventually(() => [...running][0]);
    expect(again.batch.Records.map(({ attributes }) => attributes.ApproximateReceiveCount)).toContain('2');
  });
});
