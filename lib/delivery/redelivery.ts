import type { Space } from '../space.ts';
import { firstMessage, type QueueMessage, type RecoverMessage } from './messages.ts';
import type { DeliveryFilter, DeliveryRecord } from './record.ts';
import type { Trigger } from './schedule.ts';

/** What `recover` sends again. */
export const RECOVERABLE = ['failed', 'canceled', 'skipped'] as const;

/** After this long without its due attempt a delivery is stuck: no schedule, queue or outage of ours takes a day. */
const STUCK_AFTER_MS = 24 * 60 * 60 * 1000;

/** Deliveries that one message of a recovery reads. */
const PAGE = 100;

export interface Redelivery {
  enqueue(messages: readonly QueueMessage[]): Promise<void>;
  startRun(record: DeliveryRecord, run: number, nowMs: number): Promise<void>;
  clock(): number;
}

export interface Recovery extends Redelivery {
  list(
    webhookId: string,
    options: DeliveryFilter & { limit: number; after?: string | undefined },
  ): Promise<{ deliveries: DeliveryRecord[]; next: string | undefined }>;
}

/** What is recoverable at a time: deliveries that ended without success, and stuck ones. */
export const recoverableAt = (nowMs: number) => ({ statuses: RECOVERABLE, stuckBefore: nowMs - STUCK_AFTER_MS });

/**
 * Sends deliveries again, each on the whole schedule. The messages go first: if what follows is lost they still arrive,
 * and record themselves.
 */
export async function sendAgain(
  space: Space,
  records: readonly DeliveryRecord[],
  trigger: Trigger,
  { enqueue, startRun, clock }: Redelivery,
): Promise<void> {
  await enqueue(
    records.map(({ webhookId, eventId, run }) => firstMessage(space, webhookId, eventId, { run: run + 1, trigger })),
  );
  await Promise.all(records.map((record) => startRun(record, record.run + 1, clock())));
}

/** One page of a recovery, and the message for the next. What was sent again is no longer recoverable: repeating is harmless. */
export async function recoverPage({ recover }: RecoverMessage, recovery: Recovery): Promise<void> {
  const { webhookId, since, until, after } = recover;
  const { deliveries, next } = await recovery.list(webhookId, {
    since,
    until,
    ...recoverableAt(recovery.clock()),
    limit: PAGE,
    after,
  });
  await sendAgain(recover, deliveries, 'recovery', recovery);
  if (next !== undefined) await recovery.enqueue([{ recover: { ...recover, after: next } }]);
}
