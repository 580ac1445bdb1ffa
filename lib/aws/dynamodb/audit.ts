import { AUDIT_DAYS, type AuditFilter, type AuditRecord } from '../../access/audit.ts';
import { earliestId } from '../../ids.ts';
import type { TransactionPart } from '../../transaction.ts';
import { put } from './expressions.ts';
import { itemKey, timeToLive } from './items.ts';
import type { Table } from './table.ts';
import { transactionPart } from './writes.ts';

const KEPT_MS = AUDIT_DAYS * 24 * 60 * 60 * 1000;

/** Who changed what in each project. */
export function auditLog(table: Table) {
  return {
    /** The same entry written twice is one. */
    entry(record: AuditRecord): TransactionPart {
      const expires = timeToLive(record.at + KEPT_MS);
      return transactionPart(put({ ...itemKey.audit(record.projectId, record.id), ...record, expires }));
    },

    async list(
      projectId: string,
      { since, actor, target }: AuditFilter,
      limit: number,
      after?: string,
    ): Promise<{ entries: AuditRecord[]; next: string | undefined }> {
      const wanted = Object.entries({ actor, target }).filter(([, value]) => value !== undefined);
      const { items, next } = await table.queryPages(
        {
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
          ExpressionAttributeValues: {
            ':pk': itemKey.audit(projectId, '').pk,
            ':first': earliestId('aud', since),
            ':last': 'aud_~',
            ...Object.fromEntries(wanted.map(([name, value]) => [`:${name}`, value])),
          },
          ...(wanted.length > 0
            ? {
                FilterExpression: wanted.map(([name]) => `#${name} = :${name}`).join(' AND '),
                ExpressionAttributeNames: Object.fromEntries(wanted.map(([name]) => [`#${name}`, name])),
              }
            : { Limit: limit }),
          ScanIndexForward: false,
          after: after === undefined ? undefined : itemKey.audit(projectId, after),
        },
        limit,
      );
      return { entries: items as unknown as AuditRecord[], next: next?.sk };
    },
  };
}
