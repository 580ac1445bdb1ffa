import { all, exists, isAbsent, isNew, isStill, put, update } from '../aws/expressions.ts';
import { itemKey } from '../aws/items.ts';
import { otherLayout, putLayout } from '../aws/layout.ts';
import { wholePartition } from '../aws/queries.ts';
import type { Table } from '../aws/table.ts';
import type { Write } from '../aws/writes.ts';
import type { ProjectRecord } from './project.ts';

/** The index of the layout among the writes of a new project. */
const LAYOUT_AT = 0;

export function projects(table: Table) {
  return {
    get,

    /** Reads a project that must exist, and throws otherwise. */
    async existing(id: string): Promise<ProjectRecord> {
      const project = await get(id);
      if (!project) throw new Error(`There is no project ${id}`);
      return project;
    },

    /**
     * The ids of projects in the order of their creation, at most `limit`, and the id after which the next page starts. Costs one
     * small read for each project, whatever the projects contain.
     */
    async ids(limit: number, after?: string): Promise<{ ids: string[]; next: string | undefined }> {
      const { items, next } = await table.query({
        ...wholePartition(itemKey.listedProject('').pk),
        Limit: limit,
        after: after === undefined ? undefined : itemKey.listedProject(after),
      });
      return { ids: items.map(({ sk }) => String(sk)), next: next?.sk };
    },

    /** Writes the project, its first key, the layout of the table and `also`, all or nothing. Throws if an id is taken. */
    async create(project: ProjectRecord, firstKey: readonly Write[], also: readonly Write[] = []): Promise<void> {
      const created = put({ ...itemKey.project(project.id), ...project }, isNew);
      const listed = put({ ...itemKey.listedProject(project.id) }, isNew);
      const rejected = await table.write([putLayout(), created, listed, ...firstKey, ...also]);
      const layout = rejected.find(({ index }) => index === LAYOUT_AT)?.item?.layout;
      if (layout !== undefined) throw otherLayout(layout);
      if (rejected.length > 0) throw new Error('The new project or key id is taken');
    },

    /** `undefined` resumes. Throws if the project does not exist or is being deleted. */
    async suspend(id: string, suspendedAt: number | undefined, also: readonly Write[]): Promise<void> {
      const isKept = all(exists, isAbsent('deletingAt'));
      const rejected = await table.write([update(itemKey.project(id), { suspendedAt }, isKept), ...also]);
      if (rejected.length > 0) throw new Error('The project is being deleted');
    },

    /** Sets members together with `also`. `false` if the addresses or the last test email have changed since `read`. */
    async changeAsRead(read: ProjectRecord, change: Partial<ProjectRecord>, also: readonly Write[]): Promise<boolean> {
      const { emails, mailboxes, testEmailAt } = read;
      const areStill = [isStill('emails', emails), isStill('mailboxes', mailboxes)];
      const asRead = all(exists, ...areStill, isStill('testEmailAt', testEmailAt));
      return (await table.write([update(itemKey.project(read.id), { ...change }, asRead), ...also])).length === 0;
    },
  };

  /** Strongly consistent. */
  async function get(id: string): Promise<ProjectRecord | undefined> {
    return (await table.get(itemKey.project(id))) as ProjectRecord | undefined;
  }
}
