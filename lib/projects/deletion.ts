import type { ItemKind } from '../deployment.ts';

/**
 * The deletion of a project, which stays in the table as the record of it. It contains no data of the project. Times are in
 * milliseconds since 1970.
 */
export interface DeletionRecord {
  projectId: string;
  startedAt: number;
  /** The webhooks of the project, because deliveries and stats are stored by webhook. */
  webhooks: string[];
  /** Counts the saved steps, so that of two concurrent runs only one saves a step. */
  step: number;
  /** When the current pass over the table started. Absent between two passes. */
  passAt?: number | undefined;
  /** The last item that the current pass has read. */
  after?: object | undefined;
  /** Items that the current pass has removed. */
  removedInPass: number;
  /** Items that all passes have removed. */
  removed: number;
  /** Items that the current pass has read, of all projects. */
  read: number;
  /** When a whole pass found no item of the project. */
  completedAt?: number | undefined;
}

/**
 * How long after the start of a deletion a pass can find the last items. Functions that were running at the start write for up to
 * a minute, and stats are gathered for half a minute.
 */
export const SETTLE_MS = 5 * 60 * 1000;

const OF_WEBHOOKS: ReadonlySet<string> = new Set<ItemKind>(['HOOK', 'FIGURES', 'SLOTS', 'RECOVERY']);
/** Keys are found with their index instead. */
const NOT_BY_PROJECT: ReadonlySet<string> = new Set<ItemKind>(['DELETION', 'VERSION', 'KEY']);

/** Whether the partition key of an item belongs to a project or to one of its webhooks. */
export function isOwned(pk: string, projectId: string, webhooks: ReadonlySet<string>): boolean {
  const [kind = '', id = ''] = pk.split('#');
  if (NOT_BY_PROJECT.has(kind)) return false;
  return OF_WEBHOOKS.has(kind) ? webhooks.has(id) : id === projectId;
}

/** The time from which a pass can prove that no item is left. */
const provableAt = ({ startedAt }: DeletionRecord): number => startedAt + SETTLE_MS;

/** The time that the next pass waits for, or `undefined` if it can start. The first pass starts immediately. */
export function waitsUntil(deletion: DeletionRecord, nowMs: number): number | undefined {
  const isBetweenPasses = deletion.passAt === undefined && deletion.step > 0;
  return isBetweenPasses && nowMs < provableAt(deletion) ? provableAt(deletion) : undefined;
}

/** The deletion after a pass that has read the whole table. Only an empty pass after all other writers proves the deletion. */
export function afterPass(deletion: DeletionRecord, nowMs: number): DeletionRecord {
  const { passAt = 0, removedInPass } = deletion;
  const isProof = removedInPass === 0 && passAt >= provableAt(deletion);
  return {
    ...deletion,
    passAt: undefined,
    after: undefined,
    removedInPass: 0,
    read: 0,
    completedAt: isProof ? nowMs : undefined,
  };
}
