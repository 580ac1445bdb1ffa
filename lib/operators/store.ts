import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import type { Table } from '../aws/table.ts';
import { countersOf, sumOf } from '../deliveries/stats.ts';
import { stats } from '../deliveries/stats-store.ts';
import { EVENT_TYPES } from '../events/types.ts';
import { projects } from '../projects/store.ts';
import { ENVIRONMENTS } from '../space.ts';
import { allWebhooks } from '../webhooks/store.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';

const STATS_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The id of the project of an operation. */
export const ProjectId = v.pipe(v.string('must be a string'), v.regex(/^prj_\w+$/, 'must be the id of a project'));
/** Where the next page of an operation starts. */
export const Position = v.optional(v.record(v.string(), v.any()));
/** Where the next page of projects starts. */
export const AfterProject = v.optional(v.strictObject({ id: ProjectId }));

/** How long one call starts with another project, so that it ends before the timeout of its function (infra/functions.ts). */
export const CALL_MS = 20_000;

/**
 * Performs an action for the projects of a page, one after another. Returns where the next call continues, or `null` after the
 * last project. Every call with a project makes progress.
 */
export async function forProjects(
  { table, clock }: Pick<Backend, 'table' | 'clock'>,
  limit: number,
  after: v.InferOutput<typeof AfterProject>,
  act: (projectId: string) => Promise<void>,
): Promise<v.InferOutput<typeof AfterProject> | null> {
  const started = clock();
  const { ids, next } = await projects(table).ids(limit, after?.id);
  for (const [i, id] of ids.entries()) {
    const last = ids[i - 1];
    if (last !== undefined && clock() - started >= CALL_MS) return { id: last };
    await act(id);
  }
  return next === undefined ? null : { id: next };
}

/** The webhooks of a project in both environments, of which there are at most 200. */
export async function webhooksOf(table: Table, projectId: string): Promise<WebhookRecord[]> {
  const lists = ENVIRONMENTS.map((environment) => allWebhooks(table, { projectId, environment }));
  return (await Promise.all(lists)).flat();
}

/** The deliveries to a webhook that ended in the last 30 days. */
export async function countDeliveries(table: Table, webhookId: string, nowMs: number): Promise<number> {
  const days = await stats(table).list(webhookId, { by: 'day', from: nowMs - STATS_DAYS * DAY_MS, to: nowMs });
  const { delivered, failed, skipped, canceled } = countersOf(sumOf(days), EVENT_TYPES);
  return delivered + failed + skipped + canceled;
}
