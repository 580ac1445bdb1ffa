import type { Log } from '../aws/log.ts';
import { allDone } from '../concurrency.ts';
import { NotYetError } from '../errors.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { SendToLane } from './lane-queues.ts';
import type { DeliveryLog } from './log-store.ts';
import { firstMessage, type RecoverMessage } from './messages.ts';
import { isNextPending, pageMessage, pageTaskOf, type RecoveryRecord } from './recovery-record.ts';
import type { Recoveries } from './recovery-store.ts';
import { stuckBefore } from './recovery-window.ts';

/** Seconds from a page of a recovery to the next one. */
const PAGE_SECONDS = 1;

/** Everything that the handling of a page can use. */
export interface Recovering {
  readonly clock: () => number;
  readonly log: Pick<Log, 'info'>;
  readonly deliveryLog: Pick<DeliveryLog, 'recoverable' | 'startRun'>;
  readonly recoveries: Pick<Recoveries, 'load' | 'completePage' | 'markQueued' | 'end'>;
  readonly send: SendToLane;
}

/**
 * Handles one page of a recovery, by the current limit of the webhook, and queues the next one. The order of effects prevents
 * losses: start the runs, record the page with the next one pending, queue the message of the next one, clear the flag. Of two
 * copies of a message, the one that records the page continues, and the other is received again, so messages do not multiply.
 */
export async function recoverPage({ recover }: RecoverMessage, use: Recovering): Promise<void> {
  const { recoveries, clock } = use;
  const context = await recoveries.load(recover);
  const due = pageTaskOf(recover, context, clock());
  const webhook = { ...recover, id: recover.webhookId };
  switch (due.task) {
    case 'wait':
      throw new NotYetError('The request that starts the recovery is still running');
    case 'send':
      return sendPage(due.webhook, due.recovery, use);
    case 'requeue':
      return queuePage(webhook, due.recovery, use);
    case 'end':
      await recoveries.end(webhook, due.recovery, clock());
      return reportEnd(webhook, due.recovery, use);
  }
}

/** Sends the messages of the runs before it records them, so that they record themselves if a later step is lost. */
async function sendPage(webhook: WebhookRecord, recovery: RecoveryRecord, use: Recovering): Promise<void> {
  const { deliveryLog, recoveries, send, clock } = use;
  const { id: recoveryId, since, until, endedSince, types, perSecond, from } = recovery;
  const window = { since, until, endedSince, types, recoveryId, stuckBefore: stuckBefore(clock()) };
  const limit = Math.min(perSecond, webhook.maxPerSecond ?? perSecond);
  const { deliveries, next } = await deliveryLog.recoverable(webhook.id, window, { from, limit });
  const runs = deliveries.map((delivery) => ({ delivery, run: delivery.run + 1, recovery: recoveryId }));
  await send(
    'quick',
    runs.map(({ delivery, ...run }) =>
      firstMessage(webhook, webhook.id, delivery.eventId, { ...run, trigger: 'recovery' }),
    ),
  );
  await allDone(runs.map(({ delivery, ...run }) => deliveryLog.startRun(delivery, run, clock())));
  const { isDone, stored } = await recoveries.completePage(webhook.id, recovery, next, clock());
  if (!isDone) {
    if (isNextPending(recovery, stored)) throw new NotYetError('Another function is queuing the next page');
    return;
  }
  if (next) await queuePage(webhook, { ...recovery, page: recovery.page + 1 }, use);
  else reportEnd(webhook, recovery, use);
}

/** Queues the message of a page, and records that. */
async function queuePage(
  webhook: Pick<WebhookRecord, 'projectId' | 'environment' | 'id'>,
  recovery: RecoveryRecord,
  { recoveries, send }: Recovering,
): Promise<void> {
  await send('quick', [pageMessage(webhook, recovery)], PAGE_SECONDS);
  await recoveries.markQueued(webhook.id, recovery);
}

function reportEnd(
  { id, projectId, environment }: Pick<WebhookRecord, 'projectId' | 'environment' | 'id'>,
  recovery: RecoveryRecord,
  { log }: Recovering,
): void {
  log.info('recovery.ended', { project_id: projectId, environment, webhook_id: id, recovery_id: recovery.id });
}
