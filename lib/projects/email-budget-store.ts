import { is, isNew, put } from '../aws/expressions.ts';
import { itemKey, timeToLive } from '../aws/items.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { EMPTY_BUDGET, type EmailBudget } from './email-budget.ts';

/** The time for which an unused budget is kept. During an outage, a summary waits longer than the window. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** The budgets of projects for emails. They are separate items, because functions that cannot change projects change them. */
export function emailBudgets(table: Table) {
  const saving = (projectId: string, { version }: EmailBudget, next: EmailBudget): Write => {
    const lastAt = Math.max(next.checkAt, ...next.sentAt);
    const item = { ...next, version: version + 1, expires: timeToLive(lastAt + KEPT_MS) };
    return put({ ...itemKey.emails(projectId), ...item }, version === 0 ? isNew : is('version', version));
  };

  return {
    /** Strongly consistent. Returns an empty budget if none is stored. */
    async get(projectId: string): Promise<EmailBudget> {
      return ((await table.get(itemKey.emails(projectId))) as EmailBudget | undefined) ?? EMPTY_BUDGET;
    },

    /** Returns `false` if the budget has changed since `read`. */
    async save(projectId: string, read: EmailBudget, next: EmailBudget): Promise<boolean> {
      return (await table.write([saving(projectId, read, next)])).length === 0;
    },

    /** The same write, for a transaction. */
    saving,
  };
}

export type EmailBudgets = ReturnType<typeof emailBudgets>;
