import { type DeliveryRecord, firstMessage } from './delivery.ts';
import type { QueueMessage, RecoverMessage } from './messages.ts';
import type { Space } from './space.ts';

/** What `recover` sends again. */
export const RECOVERABLE = ['failed', 'canceled', 'skipped'] as const;

/** Deliveries in one page of `recover`. */
const PAGE = 100;

export interface Redelivery {
  enqueue(messages: readonly QueueMessage[]): Promise<void>;
  beginRound(record: DeliveryRecord, round: number, nowMs: number): Promise<void>;
  clock(): number;
}

export interface Recovery extends Redelivery {
  list(
    webhookId: string,
    options: { since: number; until: number; statuses: typeof RECOVERABLE; limit: number; after: string | undefined },
  ): Promise<{ deliveries: DeliveryRecord[]; next: string | undefined }>;
}

/**
 * Sends deliveries again, each on the whole schedule. The messages go first: if what follows is lost they still arrive,
 * and record themselves.
 */
export async function sendAgain(
  space: Space,
  records: readonly DeliveryRecord[],
  { enqueue, beginRound, clock }: Redelivery,
) {
  await enqueue(records.map(({ webhookId, eventId, round }) => firstMessage(space, webhookId, eventId, round + 1)));
  await Promise.all(records.map((record) => beginRound(record, record.round + 1, clock())));
}

/** One page of a recovery, and the message for the next. What was sent again is no longer recoverable: repeating is harmless. */
export async function recoverPage({ recover }: RecoverMessage, recovery: Recovery): Promise<void> {
  const { webhookId, since, until, after } = recover;
  const { deliveries, next } = await recovery.list(webhookId, {
    since,
    until,
    statuses: RECOVERABLE,
    limit: PAGE,
    after,
  });
  await sendAgain(recover, deliveries, recovery);
  if (next !== undefined) await recovery.enqueue([{ recover: { ...recover, after: next } }]);
}
