import type { Backend } from '../aws/backend.ts';
import { MAX_EVENT_BYTES } from '../events/event.ts';
import { type Caller, documentKeyOf, may, originOf, rangesFor, reaches } from '../http/caller.ts';
import { cursorsOf } from '../http/cursor-store.ts';
import { createPageBudget, page } from '../http/page.ts';
import { invalid, notFound, Problem } from '../http/problems.ts';
import type { Request } from '../http/request.ts';
import type { Handlers, OperationResponse } from '../http/serve.ts';
import {
  type DocumentState,
  documentResource,
  etagOf,
  type Fields,
  fieldsHeld,
  MAX_DOCUMENT_BYTES,
  MAX_FIELDS,
  withoutOthersValues,
} from './document.ts';
import type { Merge, Write } from './merge.ts';
import { walkDocuments } from './pages.ts';
import { documents as documentsIn, toState, writeDocument } from './store.ts';

type DocumentHandlers = Pick<
  Handlers<'documents'>,
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
      const matched = namesTag(request.headers['if-none-match'], state);
      return matched ? { status: 304, headers } : { body: documentResource(key, state), headers };
    },

    async putDocument(request) {
      return respond(request.caller, await write(request, { op: 'put', fields: request.body.fields }), () => ({}));
    },

    async patchDocument(request) {
      const { fields, base_revision: baseRevision, on_conflict: onConflict } = request.body;
      const written = await write(request, { op: 'patch', fields, baseRevision, onConflict });
      return respond(request.caller, written, ({ conflicts }) => ({
        conflicts: may(request.caller, 'read') ? conflicts : withoutOthersValues(conflicts, fields, onConflict),
      }));
    },

    async deleteDocument(request) {
      const written = await write(request, { op: 'delete' });
      if (written instanceof Problem) return written;
      return written.merged.outcome === 'changed' ? {} : notFound('document');
    },

    listDocuments: (request) =>
      page(request, cursors, async (limit, after) => {
        const { caller, space } = request;
        const { prefix } = request.query;
        const ranges = rangesFor(caller, prefix === undefined ? ['*'] : [prefix, `${prefix}:*`]);
        const data: ReturnType<typeof documentResource>[] = [];
        const budget = createPageBudget();
        const next = await walkDocuments(documents.list, { space, ranges, limit, after }, (key, item) => {
          if (item.deleted === true || !reaches(caller, key)) return 'more';
          const resource = documentResource(key, toState(item));
          if (!budget.takes(resource)) return 'no room';
          return data.push(resource) === limit ? 'full' : 'more';
        });
        return { data, next };
      }),
  };

  type Written = {
    key: string;
    change: Fields;
    merged: Exclude<Merge, { outcome: 'conflict' | 'future_base' | 'too_large' }>;
  };

  async function write(
    request: Request<unknown, unknown, 'key'>,
    change: Partial<Write> & Pick<Write, 'op'>,
  ): Promise<Written | Problem> {
    const key = documentKeyOf(request);
    if (key instanceof Problem) return key;
    const common = {
      documentKey: key,
      fields: {},
      baseRevision: undefined,
      onConflict: 'last_write_wins',
      origin: originOf(request),
      syncId: null,
    } as const;
    const merged = await writeDocument(backend, request.space, { ...common, ...change }, (current) =>
      precondition(request, current),
    );
    if (merged instanceof Problem) return merged;
    switch (merged.outcome) {
      case 'conflict':
        return new Problem(
          'conflict',
          `Read the document, resolve the conflicts and send the change again. Fields that changed since base_revision: ${merged.conflicts.map(({ field }) => field).join(', ')}.`,
        );
      case 'future_base':
        return invalid([{ field: 'base_revision', detail: 'is greater than the revision of the document' }]);
      case 'too_large':
        return tooLarge();
      case 'events_too_large':
        return eventsTooLarge();
      default:
        return { key, change: change.fields ?? {}, merged };
    }
  }

  // A token with only `write` receives the content of its request, and nothing that needs `read`.
  function respond<More extends object>(
    caller: Caller,
    written: Written | Problem,
    more: (merged: Written['merged']) => More,
  ): OperationResponse<ReturnType<typeof documentResource> & More> | Problem {
    if (written instanceof Problem) return written;
    const { key, change, merged } = written;
    const { state } = merged;
    if (!state || state.deleted) return notFound('document');
    const created = merged.outcome === 'changed' && merged.created;
    return {
      status: created ? 201 : 200,
      body: {
        ...documentResource(key, may(caller, 'read') ? state : { ...state, fields: fieldsHeld(change) }),
        ...more(merged),
      },
      headers: { ETag: etagOf(state) },
    };
  }
}

const tooLarge = () =>
  new Problem(
    'payload_too_large',
    `Reduce the document to at most ${MAX_FIELDS} fields and ${MAX_DOCUMENT_BYTES} bytes.`,
  );

const eventsTooLarge = () =>
  new Problem(
    'payload_too_large',
    `Change fewer fields in one request. The events of this write would exceed ${MAX_EVENT_BYTES} bytes.`,
  );

/** RFC 9110 §13.1.1 and §13.1.2: `*` is any document that exists. */
function precondition({ headers }: Request, current: DocumentState | undefined): Problem | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  const failed = (ifMatch !== undefined && !namesTag(ifMatch, current, 'strong')) || namesTag(ifNoneMatch, current);
  return failed
    ? new Problem('precondition_failed', 'Read the document, then send the request again with its current ETag.')
    : undefined;
}

// If-None-Match compares weakly. If-Match compares strongly, so a weak tag never matches (RFC 9110 §8.8.3.2).
function namesTag(
  header: string | undefined,
  current: DocumentState | undefined,
  comparison: 'weak' | 'strong' = 'weak',
): boolean {
  if (header === undefined || !current || current.deleted) return false;
  const tags = header.split(',').map((tag) => tag.trim());
  return tags.some((tag) => tag === '*' || (comparison === 'weak' ? tag.replace(/^W\//, '') : tag) === etagOf(current));
}
