import { allDone } from '../concurrency.ts';
import type { QueueMessage } from '../deliveries/messages.ts';
import { recoveryOf, windowOf } from '../deliveries/recovery.ts';
import { Problem } from '../http/problems.ts';
import { applyChange } from '../webhooks/changes.ts';
import type { WebhookStore } from '../webhooks/store.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import { type AuditDeps, auditingOperator } from './audit-handlers.ts';
import type { ProjectData } from './data-store.ts';
import { projectState } from './project.ts';
import type { ProjectStore } from './store.ts';

interface EnableWebhooksDeps extends AuditDeps {
  projects: Pick<ProjectStore, 'get'>;
  data: ProjectData;
  webhooks: WebhookStore;
  /** Sends messages to the deliveries queue. */
  enqueue(messages: readonly QueueMessage[], delaySeconds?: number): Promise<void>;
  clock(): number;
  log: { info(event: string, fields: Record<string, unknown>): void };
}

/** Which webhooks to enable: those that failed deliveries disabled from `since` to `until`, of one project or of all. */
export interface DisabledWindow {
  id?: string | undefined;
  since: number;
  until?: number | undefined;
  dry_run: boolean;
  after?: object | undefined;
}

/** Projects in one call. */
const PAGE = 20;
/**
 * A recovery waits until the invocation that enables its webhook has ended, so that it finds no disabled webhook. The maximum
 * duration is the timeout of the function (infra/projects.ts).
 */
export const DELAY_SECONDS = 60;

/**
 * Enables webhooks and recovers their deliveries, for a page of projects. Leaves out suspended projects. Queues each recovery before
 * it enables the webhook, so after a failure, a repeated call finds the webhook still disabled.
 */
export function enableWebhooks(deps: EnableWebhooksDeps) {
  const { projects, data, webhooks, enqueue, clock, log } = deps;
  const audited = auditingOperator(deps);

  return async ({ id, since, until = clock(), dry_run: isDryRun, after }: DisabledWindow) => {
    const { ids, next } = id === undefined ? await data.ids(PAGE, after) : { ids: [id], next: undefined };
    let count = 0;
    for (const projectId of ids) {
      const project = await projects.get(projectId);
      if (!project || projectState(project) !== 'active') continue;
      const disabled = (await data.webhooks(projectId)).filter(
        ({ status, disabledReason, disabledAt = 0 }) =>
          status === 'disabled' && disabledReason === 'deliveries_failed' && disabledAt >= since && disabledAt <= until,
      );
      await allDone(
        disabled.map(async (webhook) => {
          if (isDryRun || (await enable(webhook))) count++;
        }),
      );
    }
    return { webhooks: count, next: next ?? null };
  };

  /** `false` if the webhook was deleted. */
  async function enable(webhook: WebhookRecord): Promise<boolean> {
    const { id, projectId } = webhook;
    await enqueue([recoveryOf(webhook, windowOf(webhook, {}, clock()))], DELAY_SECONDS);
    const changed = await applyChange(
      webhook,
      id,
      { status: 'enabled' },
      {
        webhooks,
        clock,
        audited: (change) => audited({ projectId, ...change }),
      },
    );
    if (changed instanceof Problem) return false;
    log.info('webhook.enabled', { project_id: projectId, webhook_id: id });
    return true;
  }
}
