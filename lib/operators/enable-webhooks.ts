import * as v from 'valibot';
import { auditEntry } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import { allDone } from '../concurrency.ts';
import { newRecovery } from '../deliveries/recovery-record.ts';
import { recoveryStart } from '../deliveries/start-recovery.ts';
import { projectState } from '../projects/project.ts';
import { projects } from '../projects/store.ts';
import { timestampInput } from '../schema.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { AfterProject, forProjects, ProjectId, webhooksOf } from './store.ts';

/** Which webhooks to enable: those that failed deliveries disabled from `since` to `until`, of one project or of all. */
export const EnableWebhooks = v.strictObject({
  operation: v.literal('enable-webhooks'),
  id: v.optional(ProjectId),
  since: timestampInput,
  until: v.optional(timestampInput),
  dry_run: v.optional(v.boolean(), false),
  after: AfterProject,
});

/** Projects in one call. */
const PAGE = 20;

/**
 * Enables webhooks and recovers their deliveries, for a page of projects. Leaves out suspended projects. One write enables a webhook
 * and starts its recovery, so after a failure, a repeated call finds the webhook still disabled.
 */
export function enableWebhooks(backend: Backend) {
  const { table, clock, random, log } = backend;
  const start = recoveryStart(backend);

  return async ({ id, since, until = clock(), dry_run: isDryRun, after }: v.InferOutput<typeof EnableWebhooks>) => {
    let count = 0;
    if (id !== undefined) await enableIn(id);
    const next = id === undefined ? await forProjects(backend, PAGE, after, enableIn) : null;
    return { webhooks: count, next };

    async function enableIn(projectId: string): Promise<void> {
      const project = await projects(table).get(projectId);
      if (!project || projectState(project) !== 'active') return;
      const disabled = (await webhooksOf(table, projectId)).filter(
        ({ disabledReason, disabledAt = 0 }) =>
          disabledReason === 'deliveries_failed' && disabledAt >= since && disabledAt <= until,
      );
      await allDone(
        disabled.map(async (webhook) => {
          if (isDryRun || (await enable(webhook))) count++;
        }),
      );
    }
  };

  /** `false` if the webhook was enabled or deleted since it was read. */
  async function enable(webhook: WebhookRecord): Promise<boolean> {
    const { id, projectId } = webhook;
    const recovery = newRecovery(webhook, {}, clock(), random);
    const isStarted = await start(webhook, recovery, (entry) => auditEntry({ projectId, ...entry }, random));
    if (!isStarted) return false;
    log.info('webhook.enabled', { project_id: projectId, webhook_id: id });
    return true;
  }
}
