import type { Table } from '../aws/table.ts';
import { openCursor, sealCursor } from '../http/cursor.ts';
import type { Cursors } from '../http/page.ts';
import type { Random } from '../ids.ts';
import { projects } from './store.ts';

/** Cursors under the secrets of their projects. A secret never changes, so it is read once per project and container. */
export function cursorsOf(table: Table, random: Random): Cursors {
  const known = new Map<string, string>();
  async function secretOf(projectId: string): Promise<string> {
    const secret = known.get(projectId) ?? (await projects(table).get(projectId))?.cursorSecret;
    if (secret === undefined) throw new Error('The project of this credential is gone');
    known.set(projectId, secret);
    return secret;
  }
  return {
    seal: async (projectId, scope, position) => sealCursor(await secretOf(projectId), scope, position, random),
    open: async (projectId, scope, cursor) => openCursor(await secretOf(projectId), scope, cursor),
  };
}
