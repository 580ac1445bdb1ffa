import type { Table } from '../aws/table.ts';
import type { Random } from '../ids.ts';
import { projects } from '../projects/store.ts';
import { type Cursors, createCursors } from './cursor.ts';

/** Cursors under the secrets of their projects. A secret never changes, so it is read once per project and container. */
export function cursors(table: Table, random: Random): Cursors {
  const known = new Map<string, string>();
  return createCursors(async (projectId) => {
    const secret = known.get(projectId) ?? (await projects(table).get(projectId))?.cursorSecret;
    if (secret === undefined) throw new Error('The project of this credential is gone');
    known.set(projectId, secret);
    return secret;
  }, random);
}
