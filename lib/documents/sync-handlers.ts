import type { Backend } from '../aws/backend.ts';
import { newEvent } from '../events/event.ts';
import { may } from '../http/caller.ts';
import { MAX_PAGE_BYTES } from '../http/page.ts';
import { documentNotAllowed, Problem } from '../http/problems.ts';
import type { Handlers } from '../http/serve.ts';
import { sortableId } from '../ids.ts';
import { cursorsOf } from '../projects/cursors.ts';
import { check } from '../schema.ts';
import {
  afterCyclePage,
  Checkpoint,
  Cycle,
  canPush,
  checkpointOf,
  claimsName,
  completionData,
  cycleOwner,
  isRepeatable,
  newCycle,
  withShorterWalk,
} from './cycle.ts';
import { cycles as cyclesIn } from './cycle-store.ts';
import type { documentOperations } from './operations.ts';
import { type Pull, pull } from './pages.ts';
import { covers } from './patterns.ts';
import { pushing } from './push-handlers.ts';
import { documents as documentsIn } from './store.ts';
import { patternsOf } from './sync.ts';

const PUSHING = 'Push with an admin, live or test key, or with a scoped token that has write.';
const PULLING = 'Sync without pushes with any key, or with a scoped token that has read.';

const NONE: ReadonlyMap<string, number> = new Map();

type SyncRequest = Parameters<Handlers<typeof documentOperations>['sync']>[0];

/**
 * Applies each push independently. Then returns the documents of the patterns that the node does not have, in pages. A cycle of a
 * credential without `write` claims no sync id and publishes no event.
 */
export function syncHandlers(backend: Backend): Pick<Handlers<typeof documentOperations>, 'sync'> {
  const { table, clock, random } = backend;
  const documents = documentsIn(table);
  const cycles = cyclesIn(table);
  const cursors = cursorsOf(table, random);
  const push = pushing(backend);

  return {
    async sync(request) {
      const { body, caller, space } = request;
      const patterns = patternsOf(body);
      const { token } = caller;
      const isCovered = (inner: string): boolean => !token || token.documents.some((outer) => covers(outer, inner));
      if (!patterns.every(isCovered)) return documentNotAllowed();
      const needed = body.push.length > 0 ? 'write' : 'read';
      if (!may(caller, needed)) return new Problem('insufficient_permissions', needed === 'write' ? PUSHING : PULLING);

      const begun = await begin(request);
      if (begun instanceof Problem) return begun;
      const { cycle, isRepeated } = begun;
      const isNamed = body.sync_id !== undefined || body.cursor !== undefined;
      const pushed = await push(request, cycle, { isRepeatable: isNamed, isRepeated });
      if (pushed instanceof Problem) return pushed;
      const { results, bytes } = pushed;
      const isOutdated = cycle.epoch !== (await table.epoch());
      // A token with only `write` receives no changes.
      const { changes, next, walked } =
        may(caller, 'read') && !isOutdated
          ? await pull(documents, cycle, pullOf(request, patterns, MAX_PAGE_BYTES - bytes))
          : { changes: [], next: undefined, walked: 0 };
      const soFar = afterCyclePage(cycle, { results, changes, walked, next });
      const response = { sync_id: cycle.syncId, results, changes };
      if (next === undefined && !isOutdated) {
        if (may(caller, 'write')) await complete(request, soFar);
        const checkpoint = may(caller, 'read') ? await checkpointFor(request, soFar) : null;
        return { body: { ...response, cursor: null, has_more: false, checkpoint } };
      }
      const cursor = await cursors.seal(space.projectId, cursorScope(request), JSON.stringify(soFar));
      return { body: { ...response, cursor, has_more: true, checkpoint: null } };
    },
  };

  type Begun = { cycle: Cycle; isRepeated: boolean };

  async function begin(request: SyncRequest): Promise<Begun | Problem> {
    const { cursor, since } = request.body;
    if (cursor !== undefined) return continued(request, cursor);
    const checkpoint = since === undefined ? undefined : await openCheckpoint(request, since);
    if (checkpoint instanceof Problem) return checkpoint;
    return (await isRejected(request, checkpoint)) ? resyncRequired() : started(request, checkpoint);
  }

  /**
   * Whether a restore made a checkpoint useless, and the request pushes nothing that can have taken effect before. A repeat with
   * pushes returns their results first, because a client that sends them in another cycle would apply them twice. The next page
   * of its cycle is rejected.
   */
  async function isRejected(
    { body, caller, space }: SyncRequest,
    checkpoint: Checkpoint | undefined,
  ): Promise<boolean> {
    if (checkpoint === undefined || checkpoint.epoch === (await table.epoch())) return false;
    if (body.push.length === 0 || !claimsName(caller, body.sync_id)) return true;
    return (await cycles.get(space, body.sync_id)) === undefined;
  }

  async function started(request: SyncRequest, checkpoint: Checkpoint | undefined): Promise<Begun | Problem> {
    const { caller, space } = request;
    const { sync_id: name } = request.body;
    const startedAt = clock();
    const first = {
      syncId: name ?? sortableId('syn', startedAt, random),
      namedAt: startedAt,
      epoch: checkpoint?.epoch ?? (await table.epoch()),
    };
    const owner = ownerIn(request);
    const taken = claimsName(caller, name) ? await cycles.begin(space, name, { owner, namedAt: startedAt }) : undefined;
    if (!taken) return { cycle: newCycle(first, startedAt, checkpoint), isRepeated: false };
    if (!isRepeatable(taken, owner, startedAt)) return otherCycle();
    return { cycle: newCycle({ ...first, namedAt: taken.namedAt }, startedAt, checkpoint), isRepeated: true };
  }

  async function continued(request: SyncRequest, cursor: string): Promise<Begun | Problem> {
    const { space, body } = request;
    const state = await cursors.open(space.projectId, cursorScope(request), cursor);
    const checked = check(Cycle, JSON.parse(state ?? 'null'));
    if ('violations' in checked || (body.sync_id !== undefined && body.sync_id !== checked.value.syncId))
      return new Problem('invalid_cursor', 'Start the cycle again without a cursor.');
    const [cycle, now] = [checked.value, clock()];
    const isOutdated = cycle.epoch !== (await table.epoch());
    if (isOutdated && (body.push.length === 0 || !canPush(cycle, now))) return resyncRequired();
    if (body.push.length > 0 && !canPush(cycle, now)) return otherCycle();
    return { cycle: withShorterWalk(cycle, now), isRepeated: true };
  }

  async function openCheckpoint(request: SyncRequest, since: string): Promise<Checkpoint | Problem> {
    const content = await cursors.open(request.space.projectId, checkpointScope(request), since);
    const checked = check(Checkpoint, JSON.parse(content ?? 'null'));
    if ('violations' in checked)
      return new Problem(
        'invalid_cursor',
        'Pass checkpoint exactly as you received it, for the same patterns, or start again without since.',
      );
    return checked.value;
  }

  async function checkpointFor(request: SyncRequest, cycle: Cycle): Promise<string> {
    const content = JSON.stringify(checkpointOf(cycle));
    return cursors.seal(request.space.projectId, checkpointScope(request), content);
  }

  // Runs once per cycle, because a repeated last page finds it completed.
  async function complete(request: SyncRequest, cycle: Cycle): Promise<void> {
    const { space, body } = request;
    const now = clock();
    const data = completionData(cycle, body, now);
    const event = newEvent({ ...space, at: now, type: 'sync.completed', data }, random);
    await cycles.complete(space, cycle.syncId, ownerIn(request), event);
  }
}

const pullOf = ({ body, space }: SyncRequest, patterns: readonly string[], bytesMax: number): Pull => ({
  space,
  patterns,
  known: body.known ?? NONE,
  limit: body.limit,
  bytesMax,
});

const otherCycle = () =>
  new Problem(
    'conflict',
    'Use a new sync_id for each cycle, or omit it. This one belongs to another client, or is older than a day.',
  );

const resyncRequired = () =>
  new Problem(
    'resync_required',
    'Start again without since and cursor, and replace all documents of the replica. The service was restored to an earlier state.',
  );

const ownerIn = ({ caller, body }: SyncRequest): string => cycleOwner(caller, body.node_id);

// A credential without `write` claims no cycle, so its cursor must not continue with pushes.
const cursorScope = (request: SyncRequest): string =>
  JSON.stringify(['sync', request.space, ownerIn(request), patternsOf(request.body), may(request.caller, 'write')]);

const checkpointScope = ({ space, body }: SyncRequest): string =>
  JSON.stringify(['checkpoint', space, patternsOf(body)]);
