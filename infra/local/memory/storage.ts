import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import {
  bytesIn,
  type DataFile,
  oldestItems,
  type PassedRecords,
  type PlaceRange,
  RECORDS_TOGETHER,
  STREAM_SECONDS,
} from '../services/data-file.ts';
import type { Item } from './paths.ts';
import type { Change } from './table.ts';

/** A change with its position in the stream of the table. */
export interface StreamEntry extends Pick<Change, 'before' | 'after'> {
  sequence: number;
  /** The Unix time in milliseconds. */
  at: number;
}

/**
 * The SQLite file of the database in memory. A change is written before it takes effect, so a killed process loses no change. A
 * power failure can lose the last ones. Without a directory, SQLite uses a temporary file and deletes it.
 */
export class Storage implements DataFile {
  private readonly file: DatabaseSync;
  private readonly statements: Record<'put' | 'remove' | 'record' | 'passed', StatementSync>;

  constructor(directory: string | undefined, now: number) {
    this.file = new DatabaseSync(directory === undefined ? '' : join(directory, 'memory.db'));
    this.file.exec(`PRAGMA journal_mode = ${directory === undefined ? 'MEMORY' : 'WAL'}; PRAGMA synchronous = OFF;
      CREATE TABLE IF NOT EXISTS tables (name TEXT PRIMARY KEY, input TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS items (name TEXT, pk TEXT, sk TEXT, item TEXT NOT NULL, PRIMARY KEY (name, pk, sk));
      CREATE TABLE IF NOT EXISTS records (sequence INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, at INTEGER, before TEXT, after TEXT);
      CREATE INDEX IF NOT EXISTS records_of_table ON records (name, sequence);`);
    this.file.prepare('DELETE FROM records WHERE at < ?').run(now - STREAM_SECONDS * 1000);
    const first = `SELECT sequence, at FROM records WHERE name = ? ORDER BY sequence LIMIT ${RECORDS_TOGETHER}`;
    this.statements = {
      put: this.file.prepare('INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)'),
      remove: this.file.prepare('DELETE FROM items WHERE name = ? AND pk = ? AND sk = ?'),
      record: this.file.prepare('INSERT INTO records (name, at, before, after) VALUES (?, ?, ?, ?)'),
      passed: this.file.prepare(
        `DELETE FROM records WHERE sequence IN (SELECT sequence FROM (${first}) WHERE sequence < ? OR at < ?)`,
      ),
    };
  }

  addTable(name: string, input: CreateTableCommandInput): void {
    this.file.prepare('INSERT INTO tables VALUES (?, ?)').run(name, JSON.stringify(input));
  }

  tables(): CreateTableCommandInput[] {
    return this.file
      .prepare('SELECT input FROM tables')
      .all()
      .map(({ input }) => JSON.parse(String(input)));
  }

  *items(name: string): Generator<Item> {
    for (const { item } of this.file.prepare('SELECT item FROM items WHERE name = ?').iterate(name))
      yield JSON.parse(String(item));
  }

  bytes(): number {
    return bytesIn(this.file);
  }

  oldestItems(name: string, range: PlaceRange) {
    const columns = `pk, sk, json_extract(item, '$.expires') AS expires`;
    return oldestItems(this.file, { rows: 'items', condition: `name = '${name}'`, columns }, range);
  }

  removeRecords(name: string, { sequence, at }: PassedRecords): void {
    this.statements.passed.run(name, sequence, at * 1000);
  }

  /** Stores all changes or none. */
  commit(name: string, changes: readonly Change[], at: number): void {
    const { put, remove, record } = this.statements;
    this.file.exec('BEGIN');
    try {
      for (const { key, before, after } of changes) {
        if (after) put.run(name, key.pk, key.sk, JSON.stringify(after));
        else remove.run(name, key.pk, key.sk);
        record.run(name, at, textOf(before), textOf(after));
      }
      this.file.exec('COMMIT');
    } catch (error) {
      if (this.file.isTransaction) this.file.exec('ROLLBACK');
      throw error;
    }
  }

  /** The next entries of the stream after a sequence number, oldest first. */
  entries(name: string, after: number, limit: number): StreamEntry[] {
    const query =
      'SELECT sequence, at, before, after FROM records WHERE name = ? AND sequence > ? ORDER BY sequence LIMIT ?';
    const rows = this.file.prepare(query).all(name, after, limit);
    return rows.map((row) => ({
      sequence: Number(row.sequence),
      at: Number(row.at),
      before: itemOf(row.before),
      after: itemOf(row.after),
    }));
  }

  close(): void {
    this.file.close();
  }
}

const textOf = (item: Item | undefined): string | null => (item === undefined ? null : JSON.stringify(item));
const itemOf = (text: unknown): Item | undefined => (typeof text === 'string' ? JSON.parse(text) : undefined);
