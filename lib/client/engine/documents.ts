import type { Publisher } from '../publisher-types.ts';
import type { Database } from '../sqlite.ts';
import { nextEvent, type Published } from './changes.ts';
import { isDocumentKey } from './document-names.ts';
import { type Fields, parse } from './json-values.ts';

/** The documents as their events describe them. An event and the document after it are stored in one transaction. */
export function documentStore(database: Database) {
  database.exec('CREATE TABLE IF NOT EXISTS documents (key TEXT PRIMARY KEY, revision INTEGER, fields TEXT)');
  const select = database.prepare('SELECT revision, fields FROM documents WHERE key = ?');
  const write = database.prepare(
    'INSERT INTO documents VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET revision = ?2, fields = ?3',
  );
  return {
    get(key: string): Published {
      const row = select.get(key) as { revision: number; fields: string } | undefined;
      return row
        ? { revision: row.revision, fields: parse(row.fields) as Fields | null }
        : { revision: 0, fields: null };
    },
    put(key: string, { revision, fields }: Published, addEvent: () => void): void {
      database.exec('BEGIN IMMEDIATE');
      try {
        write.run(key, revision, JSON.stringify(fields));
        addEvent();
        database.exec('COMMIT');
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
  };
}

interface Publication {
  store: ReturnType<typeof documentStore>;
  publisher: Publisher;
  origin: string;
  log(message: string): void;
}

const RETRY_MS = 5000;

/**
 * Publishes documents that an engine has stored: the difference to what earlier events contain. A document has one event at a time on its
 * way to the outbox, and a newer version replaces one that waits. So an outage needs no more memory than the documents themselves.
 */
export function documentPublisher({ store, publisher, origin, log }: Publication) {
  const waiting = new Map<string, { fields: Fields | null; savedAt: string }>();
  const running = new Map<string, Promise<void>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;

  async function publishAll(key: string): Promise<void> {
    await Promise.resolve(); // `running` has the promise before it ends
    try {
      for (let saved = waiting.get(key); saved; saved = waiting.get(key)) {
        const next = nextEvent(key, store.get(key), saved.fields, origin);
        const { published, event } = next ?? {};
        if (published && event)
          await publisher.publish({ ...event, occurred_at: saved.savedAt }, (add) => store.put(key, published, add));
        else if (waiting.get(key) === saved) waiting.delete(key);
      }
    } finally {
      running.delete(key);
    }
  }

  function publish(key: string): Promise<void> {
    let run = running.get(key);
    if (!run) {
      run = publishAll(key);
      run.catch(retryLater);
      running.set(key, run);
    }
    return run;
  }

  /** A full disk and a full outbox can end. */
  function retryLater(): void {
    if (isEnded) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const key of waiting.keys()) publish(key).catch(() => {});
    }, RETRY_MS);
  }

  return {
    /** Resolves when events up to these fields, or newer ones, are in the outbox. `null` means that the document is deleted. */
    async saved(key: string, fields: Fields | null): Promise<void> {
      if (!isDocumentKey(key)) throw new RangeError(`${key} is not a valid document key, so no event can name it.`);
      waiting.set(key, { fields, savedAt: new Date().toISOString() });
      return publish(key);
    },
    end(): void {
      isEnded = true;
      clearTimeout(timer);
      if (waiting.size > 0) log(`${waiting.size} documents have changes that are not in the outbox.`);
    },
  };
}
