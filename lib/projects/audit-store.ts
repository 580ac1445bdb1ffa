import type { Backend } from '../aws/backend.ts';
import { areAsGiven, isNew, put } from '../aws/expressions.ts';
import { itemKey, timeToLive } from '../aws/items.ts';
import { FILTERED_ITEMS, idRange, rangeQuery } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { credentialOf } from '../http/caller.ts';
import type { Request } from '../http/request.ts';
import { AUDIT_KEPT_MS, type AuditedChange, type AuditFilter, type AuditRecord, newAuditRecord } from './audit.ts';

/** Who changed what in each project. */
export function auditLog(table: Table) {
  return {
    /** The write of an entry, for the transaction of the change. Entries are only ever added. */
    entry(record: AuditRecord): Write {
      const expires = timeToLive(record.at + AUDIT_KEPT_MS);
      return put({ ...itemKey.audit(record.projectId, record.id), ...record, expires }, isNew);
    },

    /** Newest first. With a filter, a page can be short before the end. */
    async list(
      projectId: string,
      { since, actor, target }: AuditFilter,
      limit: number,
      after?: string,
    ): Promise<{ entries: AuditRecord[]; next: string | undefined }> {
      const range = idRange('aud', { since });
      if (!range) return { entries: [], next: undefined };
      const filters = areAsGiven({ actor, target });
      const { pk } = itemKey.audit(projectId, '');
      const { items, next } = await table.queryPages(
        {
          ...rangeQuery({ pk }, range, filters),
          Limit: filters.length > 0 ? FILTERED_ITEMS : limit,
          ScanIndexForward: false,
          after: after === undefined ? undefined : itemKey.audit(projectId, after),
        },
        limit,
      );
      return { entries: items as unknown as AuditRecord[], next: next?.sk };
    },
  };
}

/** Builds the write of an audit entry for a change by the operator. */
export const auditingOperator =
  ({ table, random }: Pick<Backend, 'table' | 'random'>) =>
  (change: AuditedChange): Write =>
    auditLog(table).entry(newAuditRecord(change, random));

/** Builds the write of an audit entry for the transaction of a change. */
export function auditing(backend: Pick<Backend, 'table' | 'random'>) {
  const audited = auditingOperator(backend);
  return (
    { caller, address }: Pick<Request, 'caller' | 'address'>,
    change: Omit<AuditedChange, 'projectId' | 'actor' | 'address'>,
  ): Write => audited({ projectId: caller.projectId, actor: credentialOf(caller), address, ...change });
}
