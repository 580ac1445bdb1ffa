import { itemKey } from '../../../lib/aws/items.ts';

/** More than the number of documents up to which a cycle reads all revisions (`FEW_DOCUMENTS` in lib/documents/cycle.ts). */
const COUNT = 1001;
const SPACE = { projectId: 'prj_1', environment: 'live' } as const;

/**
 * The revisions of many documents that no replica reads. They are in the range of wide patterns, so a later cycle of such a pattern
 * reads the log of changes. A cycle reads no documents that it does not send, so their content is not needed.
 */
export const UNREAD_DOCUMENTS = Array.from({ length: COUNT }, (_, i) => ({
  ...itemKey.revision(SPACE, `unread:${i}`),
  revision: 1,
  updatedAt: 0,
}));
