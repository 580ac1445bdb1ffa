import { allDone } from '../concurrency.ts';
import { NotYetError } from '../errors.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { Batch } from './batch.ts';
import { firstMessage, type RecoverMessage } from './messages.ts';
import { stuckBefore } from './recovery.ts';
import { isNextPending, pageMessage, pageTaskOf, type RecoveryRecord } from './recovery-record.ts';

/** Seconds from a page of a recovery to the next one. */
const PAGE_SECONDS = 1;

/**
 * Handles one page of a recovery, by the current limit of the webhook, and queues the next one. The order of effects prevents
 * losses: start the runs, record the page with the next one pending, queue the message of the next one, clear the flag. Of two
 * copies of a message, the one that records the page continues, and the other is received again, so messages do not multiply.
 */
export async function recoverPage({ recover }: RecoverMessage, batch: Batch): Promise<void> {
  const { recoveries, clock } = batch;
  const context = await recoveries.load(recover);
  const due = pageTaskOf(recover, context, clock());
  const webhook = { ...recover, id: recover.webhookId };
  switch (due.task) {
    case 'wait':
      throw new NotYetError('The request that starts the recovery is still running');
    case 'send':
      return sendPage(due.webhook, due.recovery, batch);
    case 'requeue':
      return queuePage(webhook, due.recovery, batch);
    case 'end':
      await recoveries.end(webhook, due.recovery, clock());
      return reportEnd(webhook, due.recovery, batch);
  }
}

/** Sends the messages of the runs before it records them, so that they record themselves if a later step is lost. */
async function sendPage(webhook: WebhookRecord, recovery: RecoveryRecord, batch: Batch): Promise<void> {
  const { store, recoveries, send, clock } = batch;
  const { id: recoveryId, since, until, endedSince, types, perSecond, from } = recovery;
  const window = { since, until, endedSince, types, recoveryId, stuckBefore: stuckBefore(clock()) };
  const limit = Math.min(perSecond, webhook.maxPerSecond ?? perSecond);
  const { deliveries, next } = await store.recoverable(webhook.id, window, { from, limit });
  const runs = deliveries.map((delivery) => ({ delivery, run: delivery.run + 1, recovery: recoveryId }));
  await send(
    'quick',
    runs.map(({ delivery, ...run }) =>
      firstMessage(webhook, webhook.id, delivery.eventId, { ...run, trigger: 'recovery' }),
    ),
  );
  await allDone(runs.map(({ delivery, ...run }) => store.startRun(delivery, run, clock())));
  const { isDone, stored } = await recoveries.completePage(webhook.id, recovery, next, clock());
  if (!isDone) {
    if (isNextPending(recovery, stored)) throw new NotYetError('Another run of the message is queuing the next page');
    return;
  }
  if (next) await queuePage(webhook, { ...recovery, page: recovery.page + 1 }, batch);
  else reportEnd(webhook, recovery, batch);
}

/** Queues the message of a page, and records that. */
async function queuePage(
  webhook: Pick<WebhookRecord, 'projectId' | 'environment' | 'id'>,
  recovery: RecoveryRecord,
  { recoveries, send }: Batch,
): Promise<void> {
  await send('quick', [pageMessage(webhook, recovery)], PAGE_SECONDS);
  await recoveries.markQueued(webhook.id, recovery);
}

function reportEnd(
  { id, projectId, environment }: Pick<WebhookRecord, 'projectId' | 'environment' | 'id'>,
  recovery: RecoveryRecord,
  { log }: Batch,
): void {
  log.info('recovery.ended', { project_id: projectId, environment, webhook_id: id, recovery_id: recovery.id });
}
