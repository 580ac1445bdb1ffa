/*
 * A revision identifies a content of a document, so it is never issued twice. A restore takes the table back to earlier
 * revisions, so it starts a new epoch, in which every revision is greater than all revisions of earlier epochs.
 */

/**
 * The revisions of one epoch. A document cannot have more, because a partition of DynamoDB accepts 500 transactional writes per
 * second (DynamoDB quotas), and 10^11 writes would take six years.
 */
const REVISIONS_PER_EPOCH = 1e11;

const FIRST_DAY_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1000;

/** The revision of the next effective write of a document whose revision is `current`. */
export const nextRevision = (current: number, epoch: number): number =>
  Math.max(current, epoch * REVISIONS_PER_EPOCH) + 1;

/**
 * The epoch of a table that was restored at `nowMs`. It is greater than that of the backup and of the table that is replaced. The
 * day is a lower bound for a replaced table that is lost with its region, and may have been restored after the backup.
 */
export const nextEpoch = (epochs: readonly number[], nowMs: number): number =>
  Math.max(...epochs.map((epoch) => epoch + 1), Math.floor((nowMs - FIRST_DAY_MS) / DAY_MS));
