import { allDone } from '../all-done.ts';
import { queue } from '../aws/queue.ts';
import { groupOf, type QueueMessage } from './messages.ts';

/** A queue of deliveries. Every message has the fair-queue group of its webhook. */
export function deliveryQueue(url: string) {
  const { send } = queue(url);
  const sendOne = (message: QueueMessage, delaySeconds?: number): Promise<void> =>
    send({ body: message, group: groupOf(message), ...(delaySeconds !== undefined && { delaySeconds }) });

  return {
    send: sendOne,
    async sendAll(messages: readonly QueueMessage[], delaySeconds?: number): Promise<void> {
      await allDone(messages.map((message) => sendOne(message, delaySeconds)));
    },
  };
}
