import { isText, requireArgument } from './arguments.ts';

/** An event in an outbox. */
export interface OutboxEntry {
  /** Increases with each event. */
  id: number;
  /** The event as JSON. */
  event: string;
  /** The idempotency key of the batch that contains the event, or `null` before it is in a batch. */
  batch: string | null;
}

/**
 * A queue of events that are not published yet. Implement it with your own database to keep the events where your documents are. A
 * change is durable when its promise resolves. One publisher uses an outbox at a time.
 */
export interface Outbox {
  /** Adds an event at the end. */
  add(event: string): Promise<void> | void;
  /** Returns the number of events. */
  count(): Promise<number> | number;
  /** Returns the first events, in the order in which they were added. */
  first(limit: number): Promise<OutboxEntry[]> | OutboxEntry[];
  /** Puts events into a batch: all of them or none. */
  assign(ids: readonly number[], batch: string): Promise<void> | void;
  /** Removes events: all of them or none. Otherwise, the rest of a batch is published twice. */
  remove(ids: readonly number[]): Promise<void> | void;
  close?(): Promise<void> | void;
}

/** Creates an outbox whose events are lost when the process ends. */
export function memoryOutbox(): Outbox {
  let entries: OutboxEntry[] = [];
  let lastId = 0;
  return {
    add: (event) => void entries.push({ id: ++lastId, event, batch: null }),
    count: () => entries.length,
    first: (limit) => entries.slice(0, limit),
    assign(ids, batch) {
      const assigned = new Set(ids);
      entries = entries.map((entry) => (assigned.has(entry.id) ? { ...entry, batch } : entry));
    },
    remove(ids) {
      const removed = new Set(ids);
      entries = entries.filter(({ id }) => !removed.has(id));
    },
  };
}

/** The part of `node:sqlite` that the outbox uses. */
interface Database {
  exec(sql: string): void;
  prepare(sql: string): { run(...values: unknown[]): unknown; get(): unknown; all(...values: unknown[]): unknown[] };
  close(): void;
}
interface Runtime {
  process?: {
    getBuiltinModule?(name: 'node:sqlite'): { DatabaseSync: new (path: string) => Database } | undefined;
    getBuiltinModule?(name: 'node:fs'): FileSystem;
  };
}
/** The part of `node:fs` that the outbox uses. */
interface FileSystem {
  openSync(path: string, flags: string, mode: number): number;
  closeSync(file: number): void;
}

/**
 * Creates a file that only the user of the process can read, because events contain documents. SQLite gives its other files the same mode.
 * An existing file stays closed, because closing it would release the lock of another outbox in this process (POSIX).
 */
function createFile(path: string, { openSync, closeSync }: FileSystem): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  }
}

/**
 * Opens an outbox in an SQLite file, which survives the end of the process and a power failure. Only the user of the process can read a
 * new file. Requires Node.js 22.13 or newer. Throws if the file cannot be used, for example because another process uses it.
 */
export function sqliteOutbox(path: string): Outbox {
  requireArgument(isText(path), 'the path of a file as text', path);
  const { process } = globalThis as Runtime;
  const sqlite = process?.getBuiltinModule?.('node:sqlite');
  if (!process?.getBuiltinModule || !sqlite)
    throw new Error('sqliteOutbox requires Node.js 22.13 or newer. Pass an Outbox with your own database instead.');
  let database: Database | undefined;
  try {
    if (path !== ':memory:') createFile(path, process.getBuiltinModule('node:fs'));
    database = new sqlite.DatabaseSync(path);
    // Two publishers with one file would publish events twice, so the first one keeps the lock.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec('CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT, batch TEXT)');
    database.exec('BEGIN IMMEDIATE; COMMIT');
  } catch (error) {
    database?.close();
    const { message } = error as Error;
    const reason = message === 'database is locked' ? 'another process uses it' : message;
    throw new Error(`The outbox ${path} cannot be opened: ${reason}.`, { cause: error });
  }
  // Each statement changes all of its rows or none.
  const insert = database.prepare('INSERT INTO events (event) VALUES (?)');
  const update = database.prepare('UPDATE events SET batch = ? WHERE id IN (SELECT value FROM json_each(?))');
  const remove = database.prepare('DELETE FROM events WHERE id IN (SELECT value FROM json_each(?))');
  const count = database.prepare('SELECT count(*) AS count FROM events');
  const first = database.prepare('SELECT id, event, batch FROM events ORDER BY id LIMIT ?');
  return {
    add: (event) => void insert.run(event),
    count: () => (count.get() as { count: number }).count,
    first: (limit) => first.all(limit) as OutboxEntry[],
    assign: (ids, batch) => void update.run(batch, JSON.stringify(ids)),
    remove: (ids) => void remove.run(JSON.stringify(ids)),
    close: () => database.close(),
  };
}
