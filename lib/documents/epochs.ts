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
 * The epoch of a restored table, from that of the table that it replaces. It is at least the number of the day, in case the
 * replaced table is lost, and with it the epochs since the backup.
 */
export const nextEpoch = (current: number, nowMs: number): number =>
  Math.max(current + 1, Math.floor((nowMs - FIRST_DAY_MS) / DAY_MS));
