import type { CursorSecrets } from '../../http/pagination.ts';
import { projects } from './projects.ts';
import type { Table } from './table.ts';

/** Read once per project and container: it never changes. */
export function cursorSecrets(table: Table): CursorSecrets {
  const known = new Map<string, string>();
  return {
    async cursorSecret(projectId) {
      const secret = known.get(projectId) ?? (await projects(table).get(projectId))?.cursorSecret;
      if (secret === undefined) throw new Error('The project of this credential is gone');
      known.set(projectId, secret);
      return secret;
    },
  };
}
