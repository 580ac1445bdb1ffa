import { isText, requireArgument } from './arguments.ts';
import { type Database, MissingSqliteError, openDatabase } from './sqlite.ts';

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

/**
 * Opens an outbox in an SQLite file, which survives the end of the process and a power failure. Only the user of the process can read a
 * new file. Throws if the file cannot be used, for example because another process uses it.
 */
export function sqliteOutbox(path: string): Outbox {
  requireArgument(isText(path), 'the path of a file as text', path);
  try {
    return outboxIn(openDatabase(path));
  } catch (error) {
    if (error instanceof MissingSqliteError)
      throw new Error(`sqliteOutbox requires ${error.message}. Pass an Outbox with your own database instead.`);
    throw new Error(`The outbox ${path} cannot be opened: ${(error as Error).message}.`, { cause: error });
  }
}

/** Keeps events in a table of a database. */
export function outboxIn(database: Database): Outbox {
  database.exec('CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT, batch TEXT)');
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
