import { type BatchResultErrorEntry, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createLimiter } from '../concurrency.ts';
import type { Variable } from '../deployment.ts';
import { RefusedError, UnavailableError } from '../errors.ts';
import { domainError } from './domain-errors.ts';
import { clientOnDemand, type Runtime, variable } from './runtime.ts';

/** Messages of one SendMessageBatch (SQS quotas). */
const BATCH = 10;

/**
 * Concurrent requests to one queue. The SDK's time limits also run while a request waits for one of its 50 connections. With
 * the CPU of a small function, a burst of a thousand requests would exceed them.
 */
const CONCURRENT_REQUESTS = 16;

/** The characters that JSON does not escape and SQS rejects (SQS API Reference, `SendMessage`). */
const REFUSED_CHARACTERS = /[\ufffe\uffff]/g;

/** The JSON text of a message body, with an escape sequence for each character that SQS rejects. */
export const messageText = (body: unknown): string =>
  JSON.stringify(body).replace(REFUSED_CHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

export interface Message {
  body: unknown;
  /** The fair-queue group. Messages of one group do not delay those of other groups (SQS fair queues). */
  group: string;
  delaySeconds?: number | undefined;
}

interface Waiting {
  message: Message;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * A queue to send to. Messages of the same turn of the event loop share requests of ten messages, because SQS bills requests.
 * Delivery is at least once: a call that throws may have sent its message. It throws `RefusedError` for a message that SQS never
 * accepts, and the other messages of its request are sent.
 */
export function queue(runtime: Pick<Runtime, 'variables' | 'client'>, name: Variable) {
  const url = variable(runtime, name);
  const client = clientOnDemand(runtime, SQSClient);
  const limited = createLimiter(CONCURRENT_REQUESTS);
  let waiting: Waiting[] = [];

  function send(message: Message): Promise<void> {
    return new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ message, resolve, reject });
    });
  }

  function flush(): void {
    const due = waiting;
    waiting = [];
    for (let i = 0; i < due.length; i += BATCH) void limited(() => sendBatch(due.slice(i, i + BATCH)));
  }

  async function sendBatch(batch: readonly Waiting[]): Promise<void> {
    const Entries = batch.map(({ message: { body, group, delaySeconds } }, i) => ({
      Id: String(i),
      MessageBody: messageText(body),
      MessageGroupId: group,
      DelaySeconds: delaySeconds,
    }));
    try {
      const { Failed = [] } = await client().send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
      const failed = new Map(Failed.map((entry) => [Number(entry.Id), entry]));
      batch.forEach(({ resolve, reject }, i) => {
        const entry = failed.get(i);
        if (entry) reject(errorOf(entry));
        else resolve();
      });
    } catch (cause) {
      const error = domainError(cause);
      // A rejected request does not identify the message, so each message is sent separately.
      if (error instanceof RefusedError && batch.length > 1) for (const one of batch) await sendBatch([one]);
      else for (const { reject } of batch) reject(error);
    }
  }

  return { send };
}

function errorOf({ Code, SenderFault }: BatchResultErrorEntry): Error {
  const message = `SQS refused a message: ${Code}`;
  return SenderFault ? new RefusedError(message) : new UnavailableError(new Error(message));
}
