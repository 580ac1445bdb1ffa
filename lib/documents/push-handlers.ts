import type { Backend } from '../aws/backend.ts';
import { ConflictError } from '../errors.ts';
import { may } from '../http/caller.ts';
import { createPageBudget, MAX_PAGE_BYTES } from '../http/page.ts';
import { documentNotAllowed, OUTCOME_UNKNOWN, Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { check } from '../schema.ts';
import { reaches } from './access.ts';
import { type Cycle, pushFingerprint } from './cycle.ts';
import { cycles as cyclesIn, type PushPlace, putReceipt, type Receipt } from './cycle-store.ts';
import { withoutOthersValues } from './document.ts';
import type { documentOperations } from './operations.ts';
import { conflictProblem, isRejected, problemOf, type WriteOutcome } from './rejections.ts';
import { writeDocument } from './store.ts';
import { documentOf, Push, type PushResult } from './sync.ts';

type SyncRequest = Parameters<Handlers<typeof documentOperations>['sync']>[0];

/** The bytes of results after which no more changes are pushed, because one result can fill half of a response. */
const MAX_RESULT_BYTES = MAX_PAGE_BYTES / 2;

const reused = () =>
  new Problem('conflict', 'Use a new sync_id for each cycle. Other pushes were sent at this position of the cycle.');

/** The pushes of one request, and the revisions that they have written so far. */
interface Pushes {
  request: SyncRequest;
  cycle: Cycle;
  /** Whether a repeat of the request returns the same results. */
  isRepeatable: boolean;
  ownRevisions: Map<string, Set<number>>;
  /** The documents of failed pushes, whose outcome can be unknown. A repeat of the request applies the later pushes in order. */
  unsettled: Set<string>;
}

/**
 * Applies the pushes of a request one after another. Those with a stored result are not applied again. Returns a problem if a
 * position of the cycle was used for another push.
 */
export function pushing(backend: Backend) {
  const { table, reportFailure } = backend;
  const cycles = cyclesIn(table);

  return async (
    request: SyncRequest,
    cycle: Cycle,
    { isRepeatable, isRepeated }: { isRepeatable: boolean; isRepeated: boolean },
  ): Promise<{ results: PushResult[]; bytes: number } | Problem> => {
    const { body, space } = request;
    const page = { space, syncId: cycle.syncId, page: cycle.page };
    const receipts = isRepeated ? await cycles.receipts(page, body.push.length) : [];
    const fingerprints = body.push.map(pushFingerprint);
    if (receipts.some((receipt, i) => receipt && receipt.fingerprint !== fingerprints[i])) return reused();
    const pushes: Pushes = { request, cycle, isRepeatable, ownRevisions: new Map(), unsettled: new Set() };
    const results: PushResult[] = [];
    const budget = createPageBudget(Number.POSITIVE_INFINITY);
    for (const [position, push] of body.push.entries()) {
      const fingerprint = fingerprints[position] ?? '';
      const hasRoom = budget.bytes() <= MAX_RESULT_BYTES;
      const result = hasRoom
        ? await tryToApply(pushes, push, { ...page, position }, receipts[position], fingerprint)
        : rejected(
            push,
            new Problem('payload_too_large', 'Send this push in another request. The results are too large.'),
          );
      if (result instanceof Problem) return result;
      budget.takes(result);
      results.push(result);
    }
    return { results, bytes: budget.bytes() };
  };

  // A failed push does not stop those of other documents. It can have taken effect.
  async function tryToApply(
    pushes: Pushes,
    push: unknown,
    place: PushPlace,
    receipt: Receipt | undefined,
    fingerprint: string,
  ): Promise<PushResult | Problem> {
    const { request } = pushes;
    const checked = check(Push, push);
    if ('violations' in checked) return rejected(push, invalidPush(checked.violations));
    const { document_key: documentKey } = checked.value;
    if (!reaches(request.caller, documentKey)) return rejected(push, documentNotAllowed());
    if (!receipt && pushes.unsettled.has(documentKey)) return rejected(push, earlierFailed());
    try {
      const stored = receipt ?? (await apply(pushes, checked.value, place, fingerprint));
      if (stored.fingerprint !== fingerprint) return reused();
      const { revision, status } = stored.result;
      const own = pushes.ownRevisions.get(documentKey) ?? new Set();
      if (revision !== null && status !== 'unchanged') pushes.ownRevisions.set(documentKey, own.add(revision));
      return shown(request, checked.value, stored.result);
    } catch (error) {
      pushes.unsettled.add(documentKey);
      if (error instanceof ConflictError) return rejected(push, tooManyWriters());
      reportFailure('sync.push_failed', { request_id: request.id }, error);
      return rejected(push, new Problem('unavailable', OUTCOME_UNKNOWN));
    }
  }

  /** Writes the document and the result in one transaction, unless another run of the request has stored a result. */
  async function apply(
    { request, cycle, isRepeatable, ownRevisions }: Pushes,
    push: Push,
    place: PushPlace,
    fingerprint: string,
  ): Promise<Receipt> {
    const { document_key: documentKey, op, fields = {}, base_revision: baseRevision, on_conflict: onConflict } = push;
    const receiptOf = (outcome: WriteOutcome): Receipt => ({ fingerprint, result: resultOf(documentKey, outcome) });
    const written = await writeDocument<Receipt>(backend, request.space, {
      op,
      documentKey,
      fields,
      baseRevision,
      onConflict,
      origin: request.body.node_id,
      syncId: cycle.syncId,
      ownRevisions: ownRevisions.get(documentKey),
      admit: (_current, tries) => (isRepeatable && tries > 1 ? cycles.receipt(place) : undefined),
      also: (outcome) => (isRepeatable ? [putReceipt(place, receiptOf(outcome), cycle.namedAt)] : []),
    });
    return 'outcome' in written ? receiptOf(written) : written;
  }
}

function resultOf(document_key: string, written: WriteOutcome): PushResult {
  if (isRejected(written)) {
    const conflicts = written.outcome === 'conflict' ? written.conflicts : [];
    const { code, detail } = problemOf(written);
    return { document_key, status: 'rejected', revision: null, conflicts, code, detail };
  }
  const { conflicts, state } = written;
  const isMerged = conflicts.length > 0;
  const status = written.outcome === 'changed' ? (isMerged ? 'merged' : 'applied') : 'unchanged';
  return { document_key, status, revision: state?.revision ?? null, conflicts };
}

/** A token without `read` sees only its own side of a conflict, and only the names of its own fields. */
function shown({ caller }: SyncRequest, { fields = {}, on_conflict }: Push, result: PushResult): PushResult {
  if (may(caller, 'read') || result.conflicts.length === 0) return result;
  const isApplied = on_conflict === 'last_write_wins' && result.status === 'merged';
  const conflicts = withoutOthersValues(result.conflicts, fields, isApplied ? 'loser' : 'winner');
  if (result.status !== 'rejected') return { ...result, conflicts };
  return { ...result, conflicts, detail: conflictProblem(conflicts).detail };
}

const rejected = (push: unknown, { code, detail }: Problem): PushResult => ({
  document_key: documentOf(push),
  status: 'rejected',
  revision: null,
  conflicts: [],
  code,
  detail,
});

const earlierFailed = () =>
  new Problem(
    'unavailable',
    'Send the push again. Nothing was changed, because an earlier push to the document failed.',
  );

const tooManyWriters = () =>
  new Problem('unavailable', 'Send the push again. Nothing was changed, because of too many concurrent changes.');

/** The violations that fit into one text. */
const MAX_LISTED = 5;

function invalidPush(violations: readonly { field: string; detail: string }[]): Problem {
  const listed = violations.slice(0, MAX_LISTED).map(({ field, detail }) => `${field} ${detail}`);
  return new Problem('invalid_request', `Correct the push: ${listed.join('; ')}.`);
}
