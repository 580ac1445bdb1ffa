import type { Backend } from '../aws/backend.ts';
import { all, any, exists, increased, isAbsent, isAtLeast, isBelow, update } from '../aws/expressions.ts';
import { itemKey } from '../aws/items.ts';
import { newVariable } from '../aws/runtime.ts';
import type { Table } from '../aws/table.ts';
import { allDone } from '../concurrency.ts';
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
 * Advances the state of a budget, unless the project is deleted. Most projects are below their budget, so their state is in the past.
 * Otherwise concurrent writers add to each other's times, and a lost response can count deliveries twice.
 */
async function advance(table: Table, projectId: string, intervalMs: number, nowMs: number): Promise<void> {
  const key = itemKey.project(projectId);
  const name = 'deliveriesUsedUntil' satisfies keyof ProjectRecord;
  const isPast = all(exists, any(isAbsent(name), isBelow(name, nowMs)));
  const { isDone, item } = await table.updated(update(key, { [name]: nowMs + intervalMs }, isPast));
  const usedUntil = (item as ProjectRecord | undefined)?.[name] ?? Number.POSITIVE_INFINITY;
  if (isDone || usedUntil > nowMs + MAX_USED_MS) return;
  await table.write([update(key, { [name]: increased(intervalMs) }, isAtLeast(name, nowMs))]);
}
