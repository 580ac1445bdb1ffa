import type { Backend } from '../aws/backend.ts';
import type { Write } from '../aws/writes.ts';
import { credentialOf } from '../http/caller.ts';
import { cursorsOf } from '../http/cursor-store.ts';
import { page } from '../http/page.ts';
import type { Request } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import { AUDIT_DAYS, type AuditedChange, auditResource, newAuditRecord } from './audit.ts';
import { auditLog } from './audit-store.ts';

export type AuditDeps = Pick<Backend, 'table' | 'random'>;

/** Builds the write of an audit entry for a change by the operator. */
export const auditingOperator =
  ({ table, random }: AuditDeps) =>
  (change: AuditedChange): Write =>
    auditLog(table).entry(newAuditRecord(change, random));

/** Builds the write of an audit entry for the transaction of a change. */
export function auditing(deps: AuditDeps) {
  const audited = auditingOperator(deps);
  return (
    { caller, address }: Pick<Request, 'caller' | 'address'>,
    change: Omit<AuditedChange, 'projectId' | 'actor' | 'address'>,
  ): Write => audited({ projectId: caller.projectId, actor: credentialOf(caller), address, ...change });
}

const KEPT_MS = AUDIT_DAYS * 24 * 60 * 60 * 1000;

export function auditHandlers({ table, clock, random }: Backend): Pick<Handlers<'project'>, 'listAudit'> {
  const cursors = cursorsOf(table, random);
  return {
    // Omits entries over the retention, because the database deletes late.
    listAudit: (request) =>
      page(request, cursors, async (limit, after) => {
        const { since = 0, actor, target } = request.query;
        const filter = { since: Math.max(since, clock() - KEPT_MS), actor, target };
        const { entries, next } = await auditLog(table).list(request.space.projectId, filter, limit, after);
        return { data: entries.map(auditResource), next };
      }),
  };
}
