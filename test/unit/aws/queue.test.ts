import type { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageText, queue } from '../../../lib/aws/queue.ts';
import { RefusedError, UnavailableError } from '../../../lib/errors.ts';
import { runtimeWith } from '../../support/runtime.ts';

type Entries = NonNullable<SendMessageBatchCommand['input']['Entries']>;
type Response = { Failed?: { Id: string; Code: string; SenderFault: boolean }[] };

/** A queue with a client that returns the result of `respond`. */
const queueWith = (respond: (entries: Entries) => Response | Promise<Response>) =>
  queue(
    runtimeWith(async ({ input }) => respond(input.Entries)),
    'CHECKS_QUEUE_URL',
  );

const outcomesOf = async (sends: Promise<void>[]) =>
  (await Promise.allSettled(sends)).map((result) =>
    result.status === 'fulfilled' ? 'sent' : (result.reason as Error).name,
  );

it('the text of a message contains only characters that SQS accepts and parses to the same body, for every UTF-16 code unit', () => {
  const accepted = /^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u;
  const all = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
  expect(all.filter((unit) => !accepted.test(messageText({ unit })))).toEqual([]);
  const text = fc.array(fc.oneof(fc.constantFrom('\ufffe', '\uffff', '\\', '"'), fc.constantFrom(...all)));
  fc.assert(
    fc.property(text, (units) => {
      const body = { event: JSON.stringify(units.join('')) };
      expect(JSON.parse(messageText(body))).toEqual(body);
    }),
  );
});

describe('a queue', () => {
  it('sends at most 16 concurrent requests for any number of messages', async () => {
    let [inFlight, most, requests] = [0, 0, 0];
    const { send } = queueWith(async () => {
      most = Math.max(most, ++inFlight);
      requests++;
      await new Promise((resolve) => setImmediate(resolve));
      inFlight--;
      return {};
    });
    await Promise.all(Array.from({ length: 10_000 }, (_, body) => send({ body, group: 'prj_1' })));
    expect([requests, most]).toEqual([1000, 16]);
  });

  it('reports rejected messages and unavailable messages, and sends the others', async () => {
    const { send } = queueWith(() => ({
      Failed: [
        { Id: '1', Code: 'InvalidMessageContents', SenderFault: true },
        { Id: '2', Code: 'InternalError', SenderFault: false },
      ],
    }));
    const outcomes = await outcomesOf([0, 1, 2, 3].map((body) => send({ body, group: 'prj_1' })));
    expect(outcomes).toEqual(['sent', RefusedError.name, UnavailableError.name, 'sent']);
  });

  it('sends each message separately when SQS rejects the complete request', async () => {
    const { send } = queueWith((entries) => {
      if (entries.some(({ MessageBody }) => MessageBody === '"poison"'))
        throw Object.assign(new Error('refused'), { name: 'InvalidMessageContents', $metadata: {} });
      return {};
    });
    const outcomes = await outcomesOf(['a', 'poison', 'b'].map((body) => send({ body, group: 'prj_1' })));
    expect(outcomes).toEqual(['sent', RefusedError.name, 'sent']);
  });
});
