import type { Backend } from '../aws/backend.ts';
import { areAsGiven, isNew, put } from '../aws/expressions.ts';
import { itemKey, timeToLive } from '../aws/items.ts';
import { idQueries, newestOf } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import { credentialOf } from '../http/caller.ts';
import type { Request } from '../http/request.ts';
import { type Random, sortableId } from '../ids.ts';
import { AUDIT_KEPT_MS, type AuditedChange, type AuditRecord, type ChangeEntry } from './audit.ts';

/** Who changed what in each project. */
export const auditLog = (table: Table) => ({
  /** Newest first, since a time in milliseconds since 1970. With a filter, a page can be short before the end. */
  async list(
    projectId: string,
    { since, ...filter }: { since: number; actor: string | undefined; target: string | undefined },
    limit: number,
    after?: string,
  ): Promise<{ entries: AuditRecord[]; next: string | undefined }> {
    const keyOf = (id: string) => itemKey.audit(projectId, id);
    const queries = idQueries('aud', { since }, [keyOf], areAsGiven(filter));
    const { items, next } = await newestOf(table, queries, { limit, after });
    return { entries: items as unknown as AuditRecord[], next };
  },
});

/** The write of an entry, for the transaction of the change. Entries are only ever added. */
export function auditEntry(change: AuditedChange, random: Random): Write {
  const id = sortableId('aud', change.at, random);
  const record: AuditRecord = { id, actor: null, address: null, link: null, detail: {}, ...change };
  const expires = timeToLive(record.at + AUDIT_KEPT_MS);
  return put({ ...itemKey.audit(record.projectId, record.id), ...record, expires }, isNew);
}

/** Builds the writes of audit entries for the changes of requests. */
export const auditing =
  ({ random }: Backend) =>
  ({ caller, address }: Pick<Request, 'caller' | 'address'>, change: ChangeEntry): Write => {
    const { projectId, session } = caller;
    const link = session ? { user: session.user ?? null } : null;
    return auditEntry({ projectId, actor: credentialOf(caller), address, link, ...change }, random);
  };
