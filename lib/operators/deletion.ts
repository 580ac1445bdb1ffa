/**
 * The deletion of a project, which stays in the table as the record of it. It contains no data of the project. Times are in
 * milliseconds since 1970.
 */
export interface DeletionRecord {
  projectId: string;
  startedAt: number;
  /** Counts the saved steps, so that of two concurrent runs only one saves a step. */
  step: number;
  /** When the current pass over the items of the project started. Absent between two passes. */
  passAt?: number | undefined;
  /** The section of the current pass. Absent at its start. */
  section?: string | undefined;
  /** The last item of the section that is done. */
  after?: object | undefined;
  /** Items that the current pass has found. */
  removedInPass: number;
  /** Items that all passes have removed. */
  removed: number;
  /** When a whole pass found no item of the project. */
  completedAt?: number | undefined;
}

/** What one step of a pass did. */
export interface DeletionPage {
  /** The items that it found, which are removed. */
  found: number;
  /** Ids of webhooks that it removed, which later passes do not need. */
  ids?: number;
  /** Whether the section is done. Otherwise, the next step continues after `after`. */
  isLast: boolean;
  after?: object | undefined;
}

/**
 * How long after the start of a deletion a pass can find the last items. Functions that were running at the start write for up to
 * a minute, and stats are gathered for half a minute.
 */
export const SETTLE_MS = 5 * 60 * 1000;

/** The time from which a pass can prove that no item is left. */
const provableAt = ({ startedAt }: DeletionRecord): number => startedAt + SETTLE_MS;

/** Whether the current pass started after all other writers. */
export const isProvable = (deletion: DeletionRecord): boolean => (deletion.passAt ?? 0) >= provableAt(deletion);

/** The time that the next pass waits for, or `undefined` if it can start. The first pass starts immediately. */
export function waitsUntil(deletion: DeletionRecord, nowMs: number): number | undefined {
  const isBetweenPasses = deletion.passAt === undefined && deletion.step > 0;
  return isBetweenPasses && nowMs < provableAt(deletion) ? provableAt(deletion) : undefined;
}

/** The deletion after a step. `sections` are those of a pass, in order. */
export function afterPage(
  deletion: DeletionRecord,
  { found, ids = 0, isLast, after }: DeletionPage,
  sections: readonly string[],
  nowMs: number,
): DeletionRecord {
  const { section = sections[0] ?? '' } = deletion;
  const counted = {
    ...deletion,
    removedInPass: deletion.removedInPass + found,
    removed: deletion.removed + found + ids,
  };
  if (!isLast) return { ...counted, section, after };
  const next = sections[sections.indexOf(section) + 1];
  return next === undefined ? afterPass(counted, nowMs) : { ...counted, section: next, after: undefined };
}

/** The deletion after a whole pass. Only an empty pass after all other writers proves the deletion. */
function afterPass(deletion: DeletionRecord, nowMs: number): DeletionRecord {
  const isProof = deletion.removedInPass === 0 && isProvable(deletion);
  return {
    ...deletion,
    passAt: undefined,
    section: undefined,
    after: undefined,
    removedInPass: 0,
    completedAt: isProof ? nowMs : undefined,
  };
}
