import type { Documents } from '../aws/documents.ts';
import type { Handlers, Reply } from '../dispatch.ts';
import { type DocumentWriter, writeDocument } from '../document-writes.ts';
import { type DocumentState, documentResource, etagOf, MAX_DOCUMENT_BYTES, MAX_FIELDS } from '../documents.ts';
import type { Merge, Write } from '../merge.ts';
import { type CursorSecrets, page } from '../paging.ts';
import { invalid, notFound, Refusal } from '../problem.ts';
import type { Request } from '../request.ts';
import { documentKeyOf, originOf, reaches } from './access.ts';

export interface DocumentsDeps extends DocumentWriter {
  documents: Documents;
  cursors: CursorSecrets;
}

type DocumentHandlers = Pick<
  Handlers<'documents'>,
  'listDocuments' | 'getDocument' | 'putDocument' | 'patchDocument' | 'deleteDocument'
>;

/** Bytes of documents in one answer: a function may answer 6 MB (Lambda quotas). */
export const MAX_PAGE_BYTES = 3 * 1024 * 1024;

export function documentHandlers(deps: DocumentsDeps): DocumentHandlers {
  const { documents, cursors } = deps;

  return {
    async getDocument(request) {
      const key = documentKeyOf(request);
      if (key instanceof Refusal) return key;
      const state = await documents.get(request.space, key);
      if (!state || state.deleted) return notFound('document');
      const headers = { ETag: etagOf(state) };
      const matched = namesTag(request.headers['if-none-match'], state);
      return matched ? { status: 304, headers } : { body: documentResource(key, state), headers };
    },

    async putDocument(request) {
      return answer(await write(request, { op: 'put', fields: request.body.fields }), () => ({}));
    },

    async patchDocument(request) {
      const { fields, base_revision: baseRevision, on_conflict: onConflict } = request.body;
      return answer(await write(request, { op: 'patch', fields, baseRevision, onConflict }), ({ conflicts }) => ({
        conflicts,
      }));
    },

    async deleteDocument(request) {
      const written = await write(request, { op: 'delete' });
      if (written instanceof Refusal) return written;
      return written.merged.outcome === 'changed' ? {} : notFound('document');
    },

    listDocuments: (request) =>
      page(request, cursors, async (limit, after) => {
        const prefix = request.query.prefix ?? '';
        const data: ReturnType<typeof documentResource>[] = [];
        let bytes = 0;
        let next = after;
        do {
          const found = await documents.list(request.space, prefix, limit, next);
          next = found.next;
          for (const { documentKey, state } of found.found) {
            const isBelow = prefix === '' || documentKey === prefix || documentKey.startsWith(`${prefix}:`);
            if (!isBelow || state.deleted || !reaches(request.caller, documentKey)) continue;
            data.push(documentResource(documentKey, state));
            bytes += JSON.stringify(state.fields).length;
            if (data.length === limit || bytes > MAX_PAGE_BYTES)
              return { data, next: found.found.at(-1)?.documentKey === documentKey ? next : documentKey };
          }
        } while (next !== undefined);
        return { data, next };
      }),
  };

  type Written = { key: string; merged: Exclude<Merge, { outcome: 'conflict' | 'future_base' | 'too_large' }> };

  async function write(request: Request, asked: Partial<Write> & Pick<Write, 'op'>): Promise<Written | Refusal> {
    const key = documentKeyOf(request);
    if (key instanceof Refusal) return key;
    const common = {
      documentKey: key,
      fields: {},
      baseRevision: undefined,
      onConflict: 'last_write_wins',
      origin: originOf(request),
      syncId: null,
    } as const;
    const merged = await writeDocument(deps, request.space, { ...common, ...asked }, (current) =>
      precondition(request, current),
    );
    if (merged instanceof Refusal) return merged;
    switch (merged.outcome) {
      case 'conflict':
        return new Refusal(
          'conflict',
          `Changed since base_revision: ${merged.conflicts.map(({ field }) => field).join(', ')}.`,
        );
      case 'future_base':
        return invalid([{ field: 'base_revision', detail: 'is greater than the revision of the document' }]);
      case 'too_large':
        return tooLarge();
      default:
        return { key, merged };
    }
  }

  function answer<More extends object>(
    written: Written | Refusal,
    more: (merged: Written['merged']) => More,
  ): Reply<ReturnType<typeof documentResource> & More> | Refusal {
    if (written instanceof Refusal) return written;
    const { key, merged } = written;
    const { state } = merged;
    if (!state || state.deleted) return notFound('document');
    const created = merged.outcome === 'changed' && merged.created;
    return {
      status: created ? 201 : 200,
      body: { ...documentResource(key, state), ...more(merged) },
      headers: { ETag: etagOf(state) },
    };
  }
}

export const tooLarge = () =>
  new Refusal('payload_too_large', `A document may have at most ${MAX_FIELDS} fields and ${MAX_DOCUMENT_BYTES} bytes.`);

/** RFC 9110 §13.1.1 and §13.1.2: `*` is any document that exists. */
function precondition({ headers }: Request, current: DocumentState | undefined): Refusal | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  const failed =
    (ifMatch !== undefined && !namesTag(ifMatch, current)) ||
    (ifNoneMatch !== undefined && namesTag(ifNoneMatch, current));
  return failed
    ? new Refusal('precondition_failed', 'Read the document again and decide with its new ETag.')
    : undefined;
}

function namesTag(header: string | undefined, current: DocumentState | undefined): boolean {
  if (header === undefined || !current || current.deleted) return false;
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etagOf(current));
}
