import { auditing } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { invalid, notFound, Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { webhooks as webhooksIn } from '../webhooks/store.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { deliveryLog } from './log-store.ts';
import { isReversed, REVERSED, type recoveryOperations } from './recovery-operations.ts';
import {
  type Hindrance,
  hindranceOf,
  isCurrent,
  newRecovery,
  type RecoveryRecord,
  recoveryResource,
} from './recovery-record.ts';
import { recoveries as recoveriesIn } from './recovery-store.ts';
import { stuckBefore, windowOf } from './recovery-window.ts';
import { recoveryStart } from './start-recovery.ts';

const NOT_RECOVERABLE: Readonly<Record<Extract<Hindrance, string>, string>> = {
  'webhook disabled': 'Enable the webhook first, or pass "enable": true.',
  'recovery running': 'Wait until the recovery that is running ends, or stop it with DELETE.',
};

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
        const now = clock();
        const hindrance = hindranceOf(webhook, await currentOf(webhook), enable === true, now);
        if (typeof hindrance === 'string') return new Problem('conflict', NOT_RECOVERABLE[hindrance]);
        if (hindrance) return void (await recoveries.end(webhook, hindrance.stalled, now));
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
      const current = await currentOf(webhook);
      if (current) await recoveries.end(webhook, current, clock());
      return {};
    },
  };

  async function currentOf(webhook: WebhookRecord): Promise<RecoveryRecord | undefined> {
    const recovery = webhook.recoveryId === undefined ? undefined : await recoveries.get(webhook.id);
    return recovery && isCurrent(recovery, webhook) ? recovery : undefined;
  }
}
