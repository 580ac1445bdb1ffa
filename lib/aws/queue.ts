import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createClient } from './client.ts';
import { domainError } from './errors.ts';

/** Messages of one SendMessageBatch (SQS quotas). */
const BATCH = 10;

export interface Message {
  body: unknown;
  /** The fair-queue group: messages of one group do not hold up the others (SQS fair queues). */
  group?: string;
  delaySeconds?: number;
}

interface Waiting {
  message: Message;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * A queue to send to. What is sent in the same turn of the event loop travels together, ten messages a request: a request
 * costs the same whatever it carries. At least once: a call that throws may have sent its message.
 */
export function queue(url: string, client = createClient(SQSClient)) {
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
    for (let i = 0; i < due.length; i += BATCH) void sendBatch(due.slice(i, i + BATCH));
  }

  async function sendBatch(batch: Waiting[]): Promise<void> {
    const Entries = batch.map(({ message: { body, group, delaySeconds } }, i) => ({
      Id: String(i),
      MessageBody: JSON.stringify(body),
      MessageGroupId: group,
      DelaySeconds: delaySeconds,
    }));
    try {
      const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
      const failed = new Map(Failed.map(({ Id, Code }) => [Number(Id), Code]));
      batch.forEach(({ resolve, reject }, i) => {
        if (failed.has(i)) reject(new Error(`SQS refused a message: ${failed.get(i)}`));
        else resolve();
      });
    } catch (error) {
      for (const { reject } of batch) reject(domainError(error));
    }
  }

  return { send };
}
