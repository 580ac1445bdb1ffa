import { MAX_EVENT_BYTES } from '../events/event.ts';
import { Problem } from '../http/problems.ts';
import { MAX_DOCUMENT_BYTES, MAX_FIELDS } from './document.ts';
import type { Merge } from './merge.ts';

/** The result of a write, whose events or conflicts can be too large. */
export type WriteOutcome = Merge | { outcome: 'events_too_large' };
type Rejected = Extract<WriteOutcome, { outcome: 'conflict' | 'future_base' | 'too_large' | 'events_too_large' }>;
export type Accepted = Exclude<WriteOutcome, Rejected>;

export const isRejected = (written: WriteOutcome): written is Rejected =>
  written.outcome === 'conflict' ||
  written.outcome === 'future_base' ||
  written.outcome === 'too_large' ||
  written.outcome === 'events_too_large';

/**
 * Whether the conflicts have more bytes than an event. Without this limit, the result of a rejected push could be too large for an
 * item.
 */
export const hasLargeConflicts = (merged: Merge): boolean =>
  'conflicts' in merged && Buffer.byteLength(JSON.stringify(merged.conflicts)) > MAX_EVENT_BYTES;

/** Why a write changed nothing, and what to do. */
export function problemOf(rejected: Rejected): Problem {
  switch (rejected.outcome) {
    case 'conflict':
      return conflictProblem(rejected.conflicts);
    case 'future_base':
      return new Problem(
        'conflict',
        'Read the document and send the change again with its revision. base_revision is greater than it, for example after a restore.',
      );
    case 'too_large':
      return new Problem(
        'payload_too_large',
        `Reduce the document to at most ${MAX_FIELDS} fields and ${MAX_DOCUMENT_BYTES} bytes.`,
      );
    case 'events_too_large':
      return new Problem(
        'payload_too_large',
        `Change fewer fields in one request. Its events or conflicts would exceed ${MAX_EVENT_BYTES} bytes.`,
      );
  }
}

/** The problem of a write with conflicts, which names their fields. */
export function conflictProblem(conflicts: readonly { field: string }[]): Problem {
  const fields = conflicts.map(({ field }) => field).join(', ');
  const named = conflicts.length > 0 ? ` Fields that changed since base_revision: ${fields}.` : '';
  return new Problem('conflict', `Read the document, resolve the conflicts and send the change again.${named}`);
}
