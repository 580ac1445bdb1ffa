import { LAYOUT, LAYOUT_KEY } from '../deployment.ts';
import { UnavailableError } from '../errors.ts';
import { any, is, isAbsent, update } from './expressions.ts';
import type { Item } from './items.ts';
import type { Write } from './writes.ts';

/** The first project of a table stores its layout. The condition is false in a table with another layout. */
export const putLayout = (): Write =>
  update(LAYOUT_KEY, { layout: LAYOUT }, any(isAbsent('layout'), is('layout', LAYOUT)));

/** Nothing was written. The request can succeed after the deployment of the release with this layout. */
export const otherLayout = (layout: unknown): UnavailableError =>
  new UnavailableError(new Error(`The table has layout ${layout}, but this release needs layout ${LAYOUT}`));

/**
 * Creates the check that a table has the layout of this release, which every command needs. Returns the epoch of the table
 * (lib/documents/epochs.ts). It costs one read per client. A table without a layout has no items yet. After a failure, the next
 * command checks again.
 */
export function layoutCheck(get: (key: typeof LAYOUT_KEY) => Promise<Item | undefined>): () => Promise<number> {
  let checked: Promise<number> | undefined;
  return () => {
    checked ??= get(LAYOUT_KEY)
      .then((item) => {
        const { layout = LAYOUT, epoch = 0 } = item ?? {};
        if (layout !== LAYOUT) throw otherLayout(layout);
        return Number(epoch);
      })
      .catch((error: unknown) => {
        checked = undefined;
        throw error;
      });
    return checked;
  };
}
