import { all, any, exists, isAbsent, isAtMost, isNew } from '../aws/conditions.ts';
import { appended, put, update } from '../aws/expressions.ts';
import { itemKey } from '../aws/items.ts';
import { otherLayout, putLayout } from '../aws/layout.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import type { KeyRecord } from '../keys/key.ts';
import { putKey } from '../keys/store.ts';
import { type ProjectRecord, TEST_EMAIL_INTERVAL_MS, type UndeliverableEmail } from './project.ts';

/** The index of the layout among the writes of a new project. */
const LAYOUT_AT = 2;

export function projects(table: Table) {
  return {
    /** Strongly consistent. */
    async get(id: string): Promise<ProjectRecord | undefined> {
      return (await table.get(itemKey.project(id))) as ProjectRecord | undefined;
    },

    /** Writes the project, its first admin key, the layout of the table and `also`, all or nothing. Throws if an id is taken. */
    async create(project: ProjectRecord, adminKey: KeyRecord, also: readonly Write[] = []): Promise<void> {
      const created = put({ ...itemKey.project(project.id), ...project }, isNew);
      const rejected = await table.write([created, putKey(adminKey), putLayout(), ...also]);
      const layout = rejected.find(({ index }) => index === LAYOUT_AT)?.item?.layout;
      if (layout !== undefined) throw otherLayout(layout);
      if (rejected.length > 0) throw new Error('The new project or key id is taken');
    },

    /** Sets members together with `also`. Throws if the project does not exist. */
    async change(id: string, change: Partial<ProjectRecord>, also: readonly Write[]): Promise<void> {
      const rejected = await table.write([update(itemKey.project(id), { ...change }, exists), ...also]);
      if (rejected.length > 0) throw new Error('The project is gone');
    },

    /** `undefined` resumes. Throws if the project does not exist or is being deleted. */
    async suspend(id: string, suspendedAt: number | undefined, also: readonly Write[]): Promise<void> {
      const isKept = all(exists, isAbsent('deletingAt'));
      const rejected = await table.write([update(itemKey.project(id), { suspendedAt }, isKept), ...also]);
      if (rejected.length > 0) throw new Error('The project is being deleted');
    },

    /** Two copies of one report can both be added. */
    async markUndeliverable(id: string, undeliverable: UndeliverableEmail): Promise<void> {
      await table.write([update(itemKey.project(id), { undeliverable: appended([undeliverable]) }, exists)]);
    },

    async reserveTestEmail(
      id: string,
      nowMs: number,
      also: readonly Write[],
      change: Partial<ProjectRecord> = {},
    ): Promise<number | undefined> {
      const isDue = any(isAbsent('testEmailAt'), isAtMost('testEmailAt', nowMs - TEST_EMAIL_INTERVAL_MS));
      const reserved = update(itemKey.project(id), { ...change, testEmailAt: nowMs }, all(exists, isDue));
      const [rejected] = await table.write([reserved, ...also]);
      return rejected && Number(rejected.item?.testEmailAt);
    },
  };
}
