import type { Item } from '../../../infra/local/memory/paths.ts';
import { matchesAny } from '../../../lib/documents/patterns.ts';
import type { Invariant } from './planted-bugs.ts';
import { must } from './violation.ts';

export type Fields = Record<string, unknown>;

/** A change that a client pushes, or writes directly. */
export interface Write {
  op: string;
  document_key: string;
  /** Absent in a direct write without a base. */
  base_revision?: number;
  fields?: Fields;
  on_conflict?: string;
}

/** A write that was sent: its request, its position there, and its node. A repeat is the same write. */
export interface SentWrite extends Write {
  request: string;
  position: number;
  origin: string;
}

interface Side {
  revision: number;
}
export interface Result {
  document_key: string;
  status: string;
  revision: number | null;
  conflicts: { winner: Side; loser: Side }[];
  code?: string;
}

/** A write that the service acknowledged as applied. */
export interface Acknowledged {
  write: SentWrite;
  revision: number;
  status: string;
  table: number;
}

/** Whether a text is a value that only one write of a history sets. */
export const isUnique = (value: unknown): value is string => typeof value === 'string' && /^w\d+$/.test(value);

/**
 * The documents as clients know them: what they sent, what the service acknowledged in the order of its revisions, and the content of
 * each revision. A restore replaces the table, so acknowledgements belong to a table.
 */
export class Model {
  /** The writes by their unique values. */
  readonly byValue = new Map<string, SentWrite>();
  readonly byRequest = new Map<string, SentWrite[]>();
  /** The number of deletions that each node sent, by document and node. */
  readonly deletions = new Map<string, number>();
  readonly acknowledged: Acknowledged[] = [];
  private readonly results = new Map<string, string>();
  /** The content of each revision in any table, and the table that it was first in. */
  private readonly contents = new Map<string, { content: string; table: number }>();
  /** The revisions of each document in the current table. */
  private readonly revisions = new Map<string, Set<number>>();
  /** The violations that clients observed. */
  readonly broken: [invariant: Invariant, detail: string][] = [];
  private values = 0;

  newValue(): string {
    return `w${this.values++}`;
  }

  /** Records what a client observed. */
  expect(condition: boolean, invariant: Invariant, detail: string): void {
    if (!condition) this.broken.push([invariant, detail]);
  }

  send(request: string, writes: readonly unknown[], origin: string): void {
    const isNew = !this.byRequest.has(request);
    const sent = writes.map((write, position) => ({ ...(write as Write), request, position, origin }));
    this.byRequest.set(request, sent);
    for (const write of sent) {
      for (const value of Object.values(write.fields ?? {})) if (isUnique(value)) this.byValue.set(value, write);
      const name = `${write.document_key} ${origin}`;
      if (isNew && write.op === 'delete') this.deletions.set(name, (this.deletions.get(name) ?? 0) + 1);
    }
  }

  /** Compares the results of a request with those of its earlier runs, and records what they acknowledge. */
  receive(request: string, results: readonly Result[], table: number): void {
    const own = new Map<string, Set<number>>();
    const sent = this.byRequest.get(request) ?? [];
    for (const [position, { document_key, status, revision, conflicts, code }] of results.entries()) {
      const write = sent[position] as SentWrite;
      const name = `${document_key}, push ${position} of ${request}`;
      const isLost = status === 'merged' && write.on_conflict === 'last_write_wins';
      for (const { winner, loser } of conflicts) {
        const others = isLost ? loser : winner;
        const isOwn = own.get(document_key)?.has(others.revision) === true;
        this.expect(!isOwn, 'One writer does not conflict with itself in a request', name);
      }
      if (code === 'unavailable') continue;
      const id = `${table} ${request} ${position}`;
      const result = JSON.stringify([status, revision, code]);
      const first = this.results.get(id) ?? result;
      this.results.set(id, first);
      this.expect(first === result, 'An acknowledged write is never undone by a repeat', `${name}: ${result}`);
      if (revision === null || (status !== 'applied' && status !== 'merged')) continue;
      own.set(document_key, (own.get(document_key) ?? new Set()).add(revision));
      this.acknowledged.push({ write, revision, status, table });
    }
  }

  /** Records the response to a direct write, which was applied if it contains a value that only this write sets. */
  receiveDirect(request: string, { revision, fields }: { revision: number; fields: Fields }, table: number): void {
    const [write] = this.byRequest.get(request) ?? [];
    if (!write) return;
    const stored = Object.values(fields);
    const values = Object.values(write.fields ?? {}).filter(isUnique);
    const isApplied = values.length > 0 && values.every((value) => stored.includes(value));
    const status = isApplied ? 'applied' : 'unchanged';
    this.receive(request, [{ document_key: write.document_key, status, revision, conflicts: [] }], table);
  }

  /** Records a state of a document in a table. Throws if another state had its revision. */
  store(document: Item, table: number, isCurrent: boolean): void {
    const [key, revision] = [String(document.sk), Number(document.revision)];
    const id = `${key} ${revision}`;
    const content = contentOf(document);
    const known = this.contents.get(id);
    const invariant =
      known && known.table !== table
        ? 'A revision is not issued again after a restore'
        : 'A revision is the same for everybody';
    must(known === undefined || known.content === content, invariant, id);
    if (!known) this.contents.set(id, { content, table });
    if (isCurrent) this.revisions.set(key, (this.revisions.get(key) ?? new Set()).add(revision));
  }

  /** Checks the content of a revision that a client received. A document that never existed has revision 0. */
  check(key: string, revision: number, fields: Fields | null): void {
    const content = this.contents.get(`${key} ${revision}`)?.content ?? 'null';
    this.expect(content === JSON.stringify(fields), 'A revision is the same for everybody', `${key} ${revision}`);
  }

  /** The table now has the documents of a backup. */
  restore(items: readonly Item[]): void {
    this.revisions.clear();
    for (const { pk, sk, revision } of items)
      if (isDocument(pk)) this.revisions.set(String(sk), new Set([Number(revision)]));
  }

  /** The current revisions of the documents that match some patterns. */
  revisionsOf(patterns: readonly string[]): Map<string, number> {
    const matching = [...this.revisions].filter(([key]) => matchesAny(patterns, key));
    return new Map(matching.map(([key, revisions]) => [key, Math.max(...revisions)]));
  }

  /** Whether a revision of a document is at least as new as another one in the current table. */
  isSince(key: string, revision: number, other: number): boolean {
    return revision >= other && this.revisions.get(key)?.has(revision) === true;
  }
}

export const isDocument = (pk: unknown): boolean => String(pk).startsWith('DOCS#');

/** The fields as text. `null` for a deleted document. */
export const contentOf = ({ deleted, fields }: Item): string => (deleted ? 'null' : String(fields));
