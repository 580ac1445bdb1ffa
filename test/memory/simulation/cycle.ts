import type { Fields, Model, Result } from './model.ts';
import type { Replica } from './replica.ts';
import type { Response } from './requests.ts';

const HOUR_MS = 60 * 60 * 1000;
/** For how long a client can continue and repeat a cycle. The rest of the day is for the difference of clocks. */
const CONTINUABLE_MS = 23 * HOUR_MS;

export interface Body {
  push: readonly unknown[];
  cursor?: string;
  since?: string;
}

export interface Page {
  results: Result[];
  changes: { document_key: string; revision: number; fields: Fields | null }[];
  cursor: string | null;
  checkpoint: string | null;
}

/** A cycle as its client knows it. */
export interface Cycle {
  replica: Replica;
  name: string;
  /** Whether its first request has a `sync_id`, and can be repeated. */
  isNamed: boolean;
  begunAt: number;
  /** The table when it began, and the revisions of the documents of its patterns there. */
  table: number;
  seen: ReadonlyMap<string, number>;
  /** The bodies of its requests, by their pages. */
  bodies: Body[];
  /** The tables of the responses. */
  tables: Set<number>;
}

const codeOf = ({ body }: { body: { code?: string } | undefined }): string | undefined => body?.code;
export const isResync = (response: NonNullable<Response>): boolean => codeOf(response) === 'resync_required';

/** Checks a response to a page of a cycle. */
export function checkResponse(model: Model, cycle: Cycle, page: number, response: NonNullable<Response>, now: number) {
  const { replica, name, begunAt, bodies } = cycle;
  const { status, body, table } = response;
  const id = `page ${page} of ${name}`;
  const code = codeOf(response);
  model.expect(code !== 'invalid_request', 'One bad entry does not block the others', id);
  if (status !== 200) {
    const isEarly = now < begunAt + CONTINUABLE_MS;
    const isOverBudget = status === 429; // of a page with pushes
    const isExpected = isResync(response) || !isOfOneTable(cycle, table) || !isEarly || isOverBudget;
    model.expect(isExpected, 'A sync cycle continues with the next token', `${id}: ${status} ${code}`);
    return;
  }
  const { results, changes }: Page = body;
  const pushes = bodies[page]?.push ?? [];
  const blocked = results.filter(({ code }, i) => code === 'invalid_request' && pushes[i] !== replica.badEntry);
  const isEach = blocked.length === 0 && results.length === pushes.length;
  model.expect(isEach, 'One bad entry does not block the others', id);
  for (const { document_key, revision, fields } of changes) model.check(document_key, revision, fields);
}

/** Checks that a replica has everything that was stored when its cycle began, unless the table was replaced since. */
export function checkCompleted(model: Model, cycle: Cycle, current: number): void {
  const { replica, name, seen, bodies } = cycle;
  if (!isOfOneTable(cycle, current)) return;
  const invariant = bodies[0]?.since === undefined ? 'Synchronized nodes agree' : 'A checkpoint misses nothing';
  for (const [key, revision] of seen) {
    const isKnown = model.isSince(key, replica.copy.get(key)?.revision ?? 0, revision);
    model.expect(isKnown, invariant, `${name} of ${replica.id} lacks ${key} ${revision}`);
  }
}

/** Whether a cycle began in a table, and all its responses are from there. */
export const isOfOneTable = ({ table, tables }: Cycle, current: number): boolean =>
  [table, ...tables].every((each) => each === current);
