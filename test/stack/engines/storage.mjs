import { DatabaseSync } from 'node:sqlite';
import { Database } from '@hocuspocus/extension-database';

// Keeps the documents of a Hocuspocus server in a file.
const database = new DatabaseSync('documents.sqlite');
database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS documents (name TEXT PRIMARY KEY, state BLOB)');
const select = database.prepare('SELECT state FROM documents WHERE name = ?');
const write = database.prepare('INSERT OR REPLACE INTO documents VALUES (?, ?)');

export const storage = new Database({
  fetch: async ({ documentName }) => select.get(documentName)?.state ?? null,
  store: async ({ documentName, state }) => void write.run(documentName, state),
});
