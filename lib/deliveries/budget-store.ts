import type { Backend } from '../aws/backend.ts';
import { all, any, exists, increased, isAbsent, isAtLeast, isBelow, update } from '../aws/expressions.ts';
import { itemKey } from '../aws/items.ts';
import { newVariable } from '../aws/runtime.ts';
import type { Table } from '../aws/table.ts';
import { allDone, optimistically } from '../concurrency.ts';
import type { ProjectRecord } from '../projects/project.ts';
import { intervalOf, isSignificant, MAX_USED_MS } from './budget.ts';

/** How long deliveries that are not worth a write are kept in memory. */
const KEPT_MS = 60_000;

/** Counts the deliveries of projects in their records, which the authorizer reads for every request. */
export function deliveryCounter({ table, clock, reportFailure, ...runtime }: Backend) {
  const perSecond = Number(newVariable(runtime, 'DELIVERIES_PER_SECOND') || Number.POSITIVE_INFINITY);
  const uncounted = new Map<string, number>();
  let since = clock();

  return {
    add(projectId: string, deliveries: number): void {
      uncounted.set(projectId, (uncounted.get(projectId) ?? 0) + deliveries);
    },

    /**
     * Writes the counts that are worth it, one for each project. A failed write is reported and repeated with the next batch, because
     * the deliveries are queued, and a repetition of the batch would send them twice.
     */
    async save(): Promise<void> {
      const now = clock();
      const significant = [...uncounted].filter(([, deliveries]) => isSignificant(deliveries, perSecond));
      await allDone(
        significant.map(async ([projectId, deliveries]) => {
          try {
            await advance(table, projectId, intervalOf(deliveries, perSecond), now);
            uncounted.delete(projectId);
          } catch (error) {
            reportFailure('deliveries.not_counted', { project_id: projectId, deliveries }, error);
          }
        }),
      );
      if (now < since + KEPT_MS) return;
      since = now;
      uncounted.clear();
    },
  };
}

/**
 * Advances the state of a budget. Concurrent writers add to each other's times. Most projects are below their budget, so their
 * state is in the past. A lost response can count deliveries twice.
 */
function advance(table: Table, projectId: string, intervalMs: number, nowMs: number): Promise<true> {
  const key = itemKey.project(projectId);
  const name = 'deliveriesUsedUntil' satisfies keyof ProjectRecord;
  return optimistically(async () => {
    const isPast = all(exists, any(isAbsent(name), isBelow(name, nowMs)));
    const started = await table.updated(update(key, { [name]: nowMs + intervalMs }, isPast));
    const project = started.item as ProjectRecord | undefined;
    if (started.isDone || !project || (project[name] ?? 0) > nowMs + MAX_USED_MS) return true;
    const { isDone } = await table.updated(update(key, { [name]: increased(intervalMs) }, isAtLeast(name, nowMs)));
    return isDone || undefined;
  });
}
