import type * as v from 'valibot';
import { openCursor, sealCursor } from '../cursor.ts';
import type { Handlers } from '../dispatch.ts';
import { writeDocument } from '../document-writes.ts';
import { newEvent } from '../events.ts';
import { sortableId } from '../ids.ts';
import { covers, literalPrefix, matchesPattern } from '../patterns.ts';
import { Refusal } from '../problem.ts';
import { check, iso } from '../schema.ts';
import { Cycle, type Push, type PushResult, type SyncAnswer } from '../sync.ts';
import { may, notAllowed, reaches } from './access.ts';
import { type DocumentsDeps, MAX_PAGE_BYTES, tooLarge } from './documents.ts';

type Change = v.InferOutput<typeof SyncAnswer>['changes'][number];

/** Pushes, each by itself; then every document of the pattern that differs from what the node knows, in pages. */
export function syncHandlers(deps: DocumentsDeps): Pick<Handlers<'documents'>, 'sync'> {
  const { documents, cursors, clock, random } = deps;

  return {
    async sync(request) {
      const { body, caller, space } = request;
      const { token } = caller;
      if (token && !token.documents.some((pattern) => covers(pattern, body.pattern))) return notAllowed();
      const needed = body.push.length > 0 ? 'write' : 'read';
      if (!may(caller, needed))
        return new Refusal('insufficient_permissions', 'This credential may not do that with documents.');

      const cycle = await begin(request);
      if (cycle instanceof Refusal) return cycle;
      const results: PushResult[] = [];
      for (const push of body.push) results.push(await apply(request, push, cycle.syncId));
      // A token that may only write is shown nothing.
      const { changes, next } = may(caller, 'read')
        ? await pull(request, cycle.after)
        : { changes: [], next: undefined };
      const soFar: Cycle = {
        ...cycle,
        pushed: cycle.pushed + results.filter(({ status }) => status === 'applied' || status === 'merged').length,
        pulled: cycle.pulled + changes.length,
        conflicts: cycle.conflicts + results.reduce((sum, { conflicts }) => sum + conflicts.length, 0),
        after: next,
      };
      const answer = { sync_id: cycle.syncId, results, changes };
      if (next === undefined) {
        await complete(request, soFar);
        return { body: { ...answer, cursor: null, has_more: false } };
      }
      const secret = await cursors.cursorSecret(space.projectId);
      const cursor = sealCursor(secret, scopeOf(request), JSON.stringify(soFar));
      return { body: { ...answer, cursor, has_more: true } };
    },
  };

  async function begin(request: SyncRequest): Promise<Cycle | Refusal> {
    const { cursor, sync_id } = request.body;
    if (cursor === undefined) {
      const startedAt = clock();
      return { syncId: sync_id ?? sortableId('syn', startedAt, random), startedAt, pushed: 0, pulled: 0, conflicts: 0 };
    }
    const secret = await cursors.cursorSecret(request.space.projectId);
    const cycle = check(Cycle, JSON.parse(openCursor(secret, scopeOf(request), cursor) ?? 'null'));
    return 'value' in cycle ? cycle.value : new Refusal('invalid_cursor', 'Start the cycle again without a cursor.');
  }

  async function apply(request: SyncRequest, push: Push, syncId: string): Promise<PushResult> {
    const { document_key, op, fields = {}, base_revision: baseRevision, on_conflict: onConflict } = push;
    const rejected = (code: string, conflicts: PushResult['conflicts'] = []): PushResult => ({
      document_key,
      status: 'rejected',
      revision: null,
      conflicts,
      code,
    });
    if (!reaches(request.caller, document_key)) return rejected('document_not_allowed');
    const write = {
      op,
      documentKey: document_key,
      fields,
      baseRevision,
      onConflict,
      origin: request.body.node_id,
      syncId,
    };
    const merged = await writeDocument<never>(deps, request.space, write, () => undefined);
    switch (merged.outcome) {
      case 'conflict':
        return rejected('conflict', merged.conflicts);
      case 'too_large':
        return rejected(tooLarge().code);
      case 'future_base':
        return rejected('invalid_request');
      case 'unchanged':
        return {
          document_key,
          status: 'unchanged',
          revision: merged.state?.revision ?? null,
          conflicts: merged.conflicts,
        };
      case 'changed': {
        const status = merged.conflicts.length > 0 ? 'merged' : 'applied';
        return { document_key, status, revision: merged.state.revision, conflicts: merged.conflicts };
      }
    }
  }

  async function pull(
    { body, space }: SyncRequest,
    from: string | undefined,
  ): Promise<{ changes: Change[]; next: string | undefined }> {
    const { pattern, known, limit } = body;
    const changes: Change[] = [];
    let bytes = 0;
    let after = from;
    for (;;) {
      const { found, next } = await documents.list(space, literalPrefix(pattern), Math.max(limit, 50), after);
      for (const { documentKey, state } of found) {
        after = documentKey;
        if (!matchesPattern(pattern, documentKey) || known.get(documentKey) === state.revision) continue;
        if (changes.length === limit || bytes > MAX_PAGE_BYTES) return { changes, next: changes.at(-1)?.document_key };
        const { revision, deleted } = state;
        changes.push({ document_key: documentKey, revision, deleted, fields: deleted ? null : state.fields });
        bytes += JSON.stringify(state.fields).length;
      }
      if (next === undefined) return { changes, next: undefined };
    }
  }

  // Once per cycle: a repeated last page finds it done.
  async function complete({ space, body }: SyncRequest, cycle: Cycle): Promise<void> {
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
    const event = newEvent({ ...space, id: sortableId('evt', now, random), at: now, type: 'sync.completed', data });
    await documents.complete(space, cycle.syncId, event);
  }
}

type SyncRequest = Parameters<Handlers<'documents'>['sync']>[0];

const scopeOf = ({ space, body }: SyncRequest): string => JSON.stringify(['sync', space, body.pattern, body.node_id]);
