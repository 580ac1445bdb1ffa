import type { KeyRecord } from '../../access/keys.ts';
import type { TransactionPart } from '../../transaction.ts';
import { isNew } from './conditions.ts';
import { put } from './expressions.ts';
import { itemKey } from './items.ts';
import { putKey } from './keys.ts';
import type { Table } from './table.ts';

export interface ProjectRecord {
  id: string;
  name: string;
  /** Where notifications go. */
  email: string;
  /** Signs the cursors of this project: 32 random bytes, base64url. A secret. */
  cursorSecret: string;
  createdAt: number;
}

export function projects(table: Table) {
  return {
    async get(id: string): Promise<ProjectRecord | undefined> {
      return (await table.get(itemKey.project(id))) as ProjectRecord | undefined;
    },

    /** The project, its first admin key and what is also written: all or nothing. Throws if an id is taken. */
    async create(project: ProjectRecord, adminKey: KeyRecord, also: readonly TransactionPart[] = []): Promise<void> {
      const created = put({ ...itemKey.project(project.id), ...project }, isNew);
      const taken = await table.write([created, putKey(adminKey), ...also]);
      if (taken.length > 0) throw new Error('The new project or key id is taken');
    },
  };
}
