import { auditing } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { invalid, notFound, Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { webhooks as webhooksIn } from '../webhooks/store.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { deliveryLog } from './log-store.ts';
import { stuckBefore, windowOf } from './recovery.ts';
import { isReversed, REVERSED, type recoveryOperations } from './recovery-operations.ts';
import { isCurrent, isStalled, newRecovery, type RecoveryRecord, recoveryResource } from './recovery-record.ts';
import { recoveries as recoveriesIn } from './recovery-store.ts';
import { recoveryStart } from './start-recovery.ts';

export function recoveryHandlers(backend: Backend): Handlers<typeof recoveryOperations> {
  const { table, clock, random } = backend;
  const webhooks = webhooksIn(table);
  const recoveries = recoveriesIn(table);
  const { countRecoverable } = deliveryLog(table);
  const start = recoveryStart(backend);
  const audited = auditing(backend);

  return {
    async getRecovery({ path: { id }, query, space }) {
      if (isReversed(query)) return invalid([REVERSED]);
      const webhook = await webhooks.get(space, id);
      if (!webhook) return notFound('webhook');
      const now = clock();
      const window = { ...windowOf(webhook, query, now), stuckBefore: stuckBefore(now) };
      const [count, recovery] = await Promise.all([countRecoverable(id, window), recoveries.get(id)]);
      return { body: { count, recovery: recovery ? recoveryResource(recovery, webhook) : null } };
    },

    // The transaction that starts the recovery also enables the webhook and stores the response.
    recover: (request, idempotencyWrites) =>
      optimistically(async () => {
        const { path, body, space } = request;
        const { enable, per_second: perSecond, ...requested } = body;
        const webhook = await webhooks.get(space, path.id);
        if (!webhook) return notFound('webhook');
        if (webhook.status === 'disabled' && !enable)
          return new Problem('conflict', 'Enable the webhook first, or pass "enable": true.');
        const now = clock();
        const running = await runningOf(webhook);
        if (running && !isStalled(running, now))
          return new Problem('conflict', 'Wait until the recovery that is running ends, or stop it with DELETE.');
        if (running) return void (await recoveries.end(webhook, running, now));
        const recovery = newRecovery(webhook, { ...requested, perSecond }, now, random);
        const count = await countRecoverable(webhook.id, { ...recovery, stuckBefore: stuckBefore(now) });
        const response = { body: { recovery_id: recovery.id, count } };
        const writes = idempotencyWrites(response);
        return (await start(webhook, recovery, (entry) => audited(request, entry), writes)) ? response : undefined;
      }),

    // Runs that the recovery started continue, so a repetition of the request has no effect.
    async stopRecovery({ path: { id }, space }) {
      const webhook = await webhooks.get(space, id);
      if (!webhook) return notFound('webhook');
      const running = await runningOf(webhook);
      if (running) await recoveries.end(webhook, running, clock());
      return {};
    },
  };

  async function runningOf(webhook: WebhookRecord): Promise<RecoveryRecord | undefined> {
    const recovery = webhook.recoveryId === undefined ? undefined : await recoveries.get(webhook.id);
    return recovery && isCurrent(recovery, webhook) ? recovery : undefined;
  }
}
