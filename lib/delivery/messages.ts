import * as v from 'valibot';
import { ENVIRONMENTS } from '../space.ts';
import { DeliveryMessage } from './record.ts';

/** One page of `recover`: the next one is a message again, so no request or function runs for long. */
export const RecoverMessage = v.strictObject({
  recover: v.strictObject({
    webhookId: v.string(),
    projectId: v.string(),
    environment: v.picklist(ENVIRONMENTS),
    since: v.number(),
    until: v.number(),
    after: v.optional(v.string()),
  }),
});
export type RecoverMessage = v.InferOutput<typeof RecoverMessage>;

/** Everything that the deliveries queue carries. */
export type QueueMessage = DeliveryMessage | RecoverMessage;
const QueueMessage = v.union([DeliveryMessage, RecoverMessage]);

/** A message from the queue; `null` if it is none of ours. */
export function parseMessage(text: string): QueueMessage | null {
  try {
    return v.parse(QueueMessage, JSON.parse(text));
  } catch {
    return null;
  }
}

/** The fair-queue group of a message: its webhook. */
export const groupOf = (message: QueueMessage): string => ('recover' in message ? message.recover : message).webhookId;
