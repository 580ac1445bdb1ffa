import type { Backend } from '../aws/backend.ts';
import { type Caller, may } from '../http/caller.ts';
import { meets, namesTag } from '../http/etag.ts';
import type { OperationResponse } from '../http/operation.ts';
import { createPageBudget, page } from '../http/page.ts';
import { notFound, Problem } from '../http/problems.ts';
import type { Request } from '../http/request.ts';
import type { Handlers, IdempotencyWrites } from '../http/serve.ts';
import { cursorsOf } from '../projects/cursors.ts';
import { documentKeyOf, originOf, rangesFor, reaches } from './access.ts';
import { documentResource, etagOf, type Fields, fieldsHeld, withoutOthersValues } from './document.ts';
import type { DocumentWrite } from './document-write.ts';
import type { documentOperations } from './operations.ts';
import { walk } from './pages.ts';
import { type Accepted, isRejected, problemOf, type WriteOutcome } from './rejections.ts';
import { documents as documentsIn, toState, writeDocument } from './store.ts';

type DocumentHandlers = Pick<
  Handlers<typeof documentOperations>,
  'listDocuments' | 'getDocument' | 'putDocument' | 'patchDocument' | 'deleteDocument'
>;

export function documentHandlers(backend: Backend): DocumentHandlers {
  const { table, random } = backend;
  const documents = documentsIn(table);
  const cursors = cursorsOf(table, random);

  return {
    async getDocument(request) {
      const key = documentKeyOf(request);
      if (key instanceof Problem) return key;
      const state = await documents.get(request.space, key);
      if (!state || state.deleted) return notFound('document');
      const headers = { ETag: etagOf(state) };
      const matched = namesTag(request.headers['if-none-match'], headers.ETag);
      return matched ? { status: 304, headers } : { body: documentResource(key, state), headers };
    },

    async putDocument(request, idempotencyWrites) {
      const { caller, path, body } = request;
      const respond = (written: Accepted) => documentResponse(caller, path.key, body.fields, written);
      return write(request, { op: 'put', fields: body.fields }, idempotencyWrites, respond);
    },

    async patchDocument(request, idempotencyWrites) {
      const { caller, path, body } = request;
      const { fields, base_revision: baseRevision, on_conflict: onConflict } = body;
      const patch = { op: 'patch', fields, baseRevision, onConflict } as const;
      return write(request, patch, idempotencyWrites, (written) => {
        const response = documentResponse(caller, path.key, fields, written);
        if (response instanceof Problem) return response;
        const deleted = written.outcome === 'stays_deleted';
        const theirs = onConflict === 'last_write_wins' && !deleted ? 'loser' : 'winner';
        const conflicts = may(caller, 'read')
          ? written.conflicts
          : withoutOthersValues(written.conflicts, fields, theirs);
        return { ...response, body: { ...response.body, deleted, conflicts } };
      });
    },

    async deleteDocument(request, idempotencyWrites) {
      return write(request, { op: 'delete' }, idempotencyWrites, ({ outcome }) =>
        outcome === 'changed' ? {} : notFound('document'),
      );
    },

    listDocuments: (request) =>
      page(request, cursors, async (limit, after) => {
        const { caller, space } = request;
        const { prefix } = request.query;
        const ranges = rangesFor(caller, prefix === undefined ? ['*'] : [prefix, `${prefix}:*`]);
        const data: ReturnType<typeof documentResource>[] = [];
        const budget = createPageBudget();
        const next = await walk(documents.list, { space, ranges, limit, after }, (key, item) => {
          if (item.deleted === true || !reaches(caller, key)) return 'more';
          const resource = documentResource(key, toState(item));
          if (!budget.takes(resource)) return 'no room';
          return data.push(resource) === limit ? 'full' : 'more';
        });
        return { data, next };
      }),
  };

  /** Writes a document and the response under the idempotency key in one transaction. */
  async function write<Response extends OperationResponse>(
    request: Request<unknown, unknown, 'key'>,
    change: Partial<DocumentWrite> & Pick<DocumentWrite, 'op'>,
    idempotencyWrites: IdempotencyWrites,
    respond: (written: Accepted) => Response | Problem,
  ): Promise<Response | Problem> {
    const key = documentKeyOf(request);
    if (key instanceof Problem) return key;
    const responseTo = (outcome: WriteOutcome) => (isRejected(outcome) ? problemOf(outcome) : respond(outcome));
    const written = await writeDocument(backend, request.space, {
      documentKey: key,
      fields: {},
      baseRevision: undefined,
      onConflict: 'last_write_wins',
      origin: originOf(request),
      syncId: null,
      ...change,
      admit: (current) => {
        const etag = current && !current.deleted ? etagOf(current) : undefined;
        return meets(request.headers, etag) ? undefined : preconditionFailed(request.headers['if-match']);
      },
      also(outcome) {
        const response = responseTo(outcome);
        return response instanceof Problem ? [] : idempotencyWrites(response);
      },
    });
    return written instanceof Problem ? written : responseTo(written);
  }
}

const preconditionFailed = (ifMatch = '') => {
  const advice = 'Read the document, then send the request again with its current ETag.';
  // A proxy that compresses changes the ETag of a response, so the current one would fail as well.
  const isForeign = !/^[\d", \t*]*$/.test(ifMatch);
  const tag = 'The service issues no such ETag as in If-Match. Send the revision of the document in double quotes.';
  return new Problem('precondition_failed', isForeign ? `${advice} ${tag}` : advice);
};

/** A token with only `write` receives the content of its request, and nothing that needs `read`. */
function documentResponse(caller: Caller, key: string, change: Fields, written: Accepted) {
  const { state } = written;
  const isLost = written.outcome === 'stays_deleted';
  if (!state || (state.deleted && !isLost)) return notFound('document');
  const isShown = isLost || may(caller, 'read');
  return {
    status: written.outcome === 'changed' && written.created ? 201 : 200,
    body: documentResource(key, isShown ? state : { ...state, fields: fieldsHeld(change) }),
    headers: { ETag: etagOf(state) },
  };
}
