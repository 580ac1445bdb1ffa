import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { clientSettings } from './client.ts';

/** Messages of one SendMessageBatch (SQS quotas). */
const BATCH = 10;
/** The longest delay of a message (SQS quotas). */
export const MAX_DELAY_SECONDS = 900;

export interface Message {
  body: unknown;
  /** The fair-queue group: messages of one group do not hold up the others (SQS fair queues). */
  group?: string;
  delaySeconds?: number;
}

/** A queue to send to. At least once: a call that throws may have sent some of its messages. */
export function queue(url: string, client = new SQSClient(clientSettings)) {
  return {
    async send({ body, group, delaySeconds }: Message): Promise<void> {
      const MessageBody = JSON.stringify(body);
      await client.send(
        new SendMessageCommand({ QueueUrl: url, MessageBody, MessageGroupId: group, DelaySeconds: delaySeconds }),
      );
    },

    async sendAll(messages: readonly Message[]): Promise<void> {
      const batches = Array.from({ length: Math.ceil(messages.length / BATCH) }, (_, i) =>
        messages.slice(i * BATCH, (i + 1) * BATCH),
      );
      for (const batch of batches) {
        const Entries = batch.map(({ body, group, delaySeconds }, i) => ({
          Id: String(i),
          MessageBody: JSON.stringify(body),
          MessageGroupId: group,
          DelaySeconds: delaySeconds,
        }));
        const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
        if (Failed.length > 0)
          throw new Error(`SQS took ${batch.length - Failed.length} of ${batch.length} messages: ${Failed[0]?.Code}`);
      }
    },
  };
}
