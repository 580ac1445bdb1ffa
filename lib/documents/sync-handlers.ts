import type { Backend } from '../aws/backend.ts';
import { ConflictError } from '../errors.ts';
import { newEvent } from '../events/event.ts';
import { credentialOf, may, reaches } from '../http/caller.ts';
import { cursorsOf } from '../http/cursor-store.ts';
import { fingerprintOf } from '../http/idempotency-store.ts';
import { createPageBudget, MAX_PAGE_BYTES } from '../http/page.ts';
import { documentNotAllowed, Problem, type ProblemCode } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { sortableId } from '../ids.ts';
import { check, iso } from '../schema.ts';
import { type Conflict, withoutOthersValues } from './document.ts';
import { pull } from './pages.ts';
import { covers } from './patterns.ts';
import { documents as documentsIn, writeDocument } from './store.ts';
import { Cycle, type Push, type PushResult } from './sync.ts';

const PUSHING = 'Push with an admin, live or test key, or with a scoped token that has write.';
const PULLING = 'Sync without pushes with any key, or with a scoped token that has read.';

/** The bytes of results after which no more changes are pushed, because one result can fill half of a response. */
const MAX_RESULT_BYTES = MAX_PAGE_BYTES / 2;

/**
 * Applies each push independently. Then returns the documents of the pattern that differ from the known revisions, in pages. A
 * cycle of a credential without `write` claims no sync id and publishes no event.
 */
export function syncHandlers(backend: Backend): Pick<Handlers<'documents'>, 'sync'> {
  const { table, clock, random, reportFailure } = backend;
  const documents = documentsIn(table);
  const cursors = cursorsOf(table, random);

  return {
    async sync(request) {
      const { body, caller, space } = request;
      const { token } = caller;
      if (token && !token.documents.some((pattern) => covers(pattern, body.pattern))) return documentNotAllowed();
      const needed = body.push.length > 0 ? 'write' : 'read';
      if (!may(caller, needed)) return new Problem('insufficient_permissions', needed === 'write' ? PUSHING : PULLING);

      const cycle = await begin(request);
      if (cycle instanceof Problem) return cycle;
      const { results, bytes } = await pushAll(request, cycle.syncId);
      // A token with only `write` receives no changes.
      const { changes, next } = may(caller, 'read')
        ? await pull(documents, { ...body, space, after: cycle.after, bytesMax: MAX_PAGE_BYTES - bytes })
        : { changes: [], next: undefined };
      const soFar: Cycle = {
        ...cycle,
        pushed: cycle.pushed + results.filter(({ status }) => status === 'applied' || status === 'merged').length,
        pulled: cycle.pulled + changes.length,
        conflicts: cycle.conflicts + results.reduce((sum, { conflicts }) => sum + conflicts.length, 0),
        after: next,
      };
      const response = { sync_id: cycle.syncId, results, changes };
      if (next === undefined) {
        if (may(caller, 'write')) await complete(request, soFar);
        return { body: { ...response, cursor: null, has_more: false } };
      }
      const cursor = await cursors.seal(space.projectId, scopeOf(request), JSON.stringify(soFar));
      return { body: { ...response, cursor, has_more: true } };
    },
  };

  async function begin(request: SyncRequest): Promise<Cycle | Problem> {
    const { cursor, sync_id } = request.body;
    if (cursor === undefined) {
      const startedAt = clock();
      const isOwn =
        sync_id === undefined ||
        !may(request.caller, 'write') ||
        (await documents.claimCycle(request.space, sync_id, {
          credentialId: credentialOf(request.caller),
          fingerprint: fingerprintOf('sync', request),
          nowMs: startedAt,
        }));
      if (!isOwn)
        return new Problem(
          'conflict',
          'Use a different sync_id, or omit it. This one names a completed cycle, or belongs to another credential.',
        );
      return { syncId: sync_id ?? sortableId('syn', startedAt, random), startedAt, pushed: 0, pulled: 0, conflicts: 0 };
    }
    const position = await cursors.open(request.space.projectId, scopeOf(request), cursor);
    const cycle = check(Cycle, JSON.parse(position ?? 'null'));
    return 'value' in cycle ? cycle.value : new Problem('invalid_cursor', 'Start the cycle again without a cursor.');
  }

  async function pushAll(request: SyncRequest, syncId: string): Promise<{ results: PushResult[]; bytes: number }> {
    const results: PushResult[] = [];
    const budget = createPageBudget(Number.POSITIVE_INFINITY);
    for (const push of request.body.push) {
      const hasRoom = budget.bytes() <= MAX_RESULT_BYTES;
      const result = hasRoom ? await tryToApply(request, push, syncId) : rejected(push, 'payload_too_large');
      budget.takes(result);
      results.push(result);
    }
    return { results, bytes: budget.bytes() };
  }

  // A failed push does not stop the others. It can have taken effect, and a repetition is harmless.
  async function tryToApply(request: SyncRequest, push: Push, syncId: string): Promise<PushResult> {
    try {
      return await apply(request, push, syncId);
    } catch (error) {
      if (!(error instanceof ConflictError)) reportFailure('sync.push_failed', { request_id: request.id }, error);
      return rejected(push, 'unavailable');
    }
  }

  async function apply(request: SyncRequest, push: Push, syncId: string): Promise<PushResult> {
    const { document_key, op, fields = {}, base_revision: baseRevision, on_conflict: onConflict } = push;
    if (!reaches(request.caller, document_key)) return rejected(push, 'document_not_allowed');
    const shown = (conflicts: Conflict[]) =>
      may(request.caller, 'read') ? conflicts : withoutOthersValues(conflicts, fields, onConflict);
    const write = {
      op,
      documentKey: document_key,
      fields,
      baseRevision,
      onConflict,
      origin: request.body.node_id,
      syncId,
    };
    const merged = await writeDocument<never>(backend, request.space, write, () => undefined);
    switch (merged.outcome) {
      case 'conflict':
        return rejected(push, 'conflict', shown(merged.conflicts));
      case 'too_large':
      case 'events_too_large':
        return rejected(push, 'payload_too_large');
      case 'future_base':
        return rejected(push, 'invalid_request');
      case 'unchanged': {
        const revision = merged.state?.revision ?? null;
        return { document_key, status: 'unchanged', revision, conflicts: shown(merged.conflicts) };
      }
      case 'changed': {
        const status = merged.conflicts.length > 0 ? 'merged' : 'applied';
        return { document_key, status, revision: merged.state.revision, conflicts: shown(merged.conflicts) };
      }
    }
  }

  // Runs once per cycle, because a repeated last page finds it completed.
  async function complete({ space, body, caller }: SyncRequest, cycle: Cycle): Promise<void> {
    const now = clock();
    const data = {
      sync_id: cycle.syncId,
      node_id: body.node_id,
      pattern: body.pattern,
      pushed: cycle.pushed,
      pulled: cycle.pulled,
      conflicts: cycle.conflicts,
      started_at: iso(cycle.startedAt),
      completed_at: iso(now),
    };
    const event = newEvent({ ...space, at: now, type: 'sync.completed', data }, random);
    await documents.complete(space, cycle.syncId, credentialOf(caller), event);
  }
}

type SyncRequest = Parameters<Handlers<'documents'>['sync']>[0];

const scopeOf = ({ space, body, caller }: SyncRequest): string =>
  JSON.stringify(['sync', space, credentialOf(caller), body.pattern, body.node_id]);

const rejected = ({ document_key }: Push, code: ProblemCode, conflicts: PushResult['conflicts'] = []): PushResult => ({
  document_key,
  status: 'rejected',
  revision: null,
  conflicts,
  code,
});
