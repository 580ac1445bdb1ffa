import type { Write } from '../aws/writes.ts';
import type { Cursors } from '../http/cursor-store.ts';
import { page } from '../http/page.ts';
import type { Request } from '../http/request.ts';
import { credentialOf } from '../http/scope.ts';
import type { Handlers } from '../http/serve.ts';
import type { Random } from '../ids.ts';
import {
  AUDIT_DAYS,
  type AuditedChange,
  type AuditFilter,
  type AuditRecord,
  auditResource,
  newAuditRecord,
} from './audit.ts';

/** Who changed what, as it is stored. */
export interface AuditLog {
  /** The write of an entry, for the transaction of the change. */
  entry(record: AuditRecord): Write;
  /** Newest first. With a filter, a page can be short before the end. */
  list(
    projectId: string,
    filter: AuditFilter,
    limit: number,
    after?: string,
  ): Promise<{ entries: AuditRecord[]; next: string | undefined }>;
}

export interface AuditDeps {
  audit: Pick<AuditLog, 'entry'>;
  random: Random;
}

/** Builds the write of an audit entry for a change by the operator. */
export const auditingOperator =
  ({ audit, random }: AuditDeps) =>
  (change: AuditedChange): Write =>
    audit.entry(newAuditRecord(change, random));

/** Builds the write of an audit entry for the transaction of a change. */
export const auditing =
  ({ audit, random }: AuditDeps) =>
  (
    { caller, address }: Pick<Request, 'caller' | 'address'>,
    change: Omit<AuditedChange, 'projectId' | 'actor' | 'address'>,
  ): Write => {
    const author = { projectId: caller.projectId, actor: credentialOf(caller), address };
    return audit.entry(newAuditRecord({ ...author, ...change }, random));
  };

const KEPT_MS = AUDIT_DAYS * 24 * 60 * 60 * 1000;

export interface AuditListDeps {
  audit: Pick<AuditLog, 'list'>;
  cursors: Cursors;
  clock(): number;
}

export function auditHandlers({ audit, cursors, clock }: AuditListDeps): Pick<Handlers<'project'>, 'listAudit'> {
  return {
    // Omits entries over the retention, because the database deletes late.
    listAudit: (request) =>
      page(request, cursors, async (limit, after) => {
        const { since = 0, actor, target } = request.query;
        const filter = { since: Math.max(since, clock() - KEPT_MS), actor, target };
        const { entries, next } = await audit.list(request.space.projectId, filter, limit, after);
        return { data: entries.map(auditResource), next };
      }),
  };
}
