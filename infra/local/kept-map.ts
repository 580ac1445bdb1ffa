import type { DatabaseSync, StatementSync } from 'node:sqlite';

/**
 * A map in a table of a SQLite file. A change is written to the file before it takes effect, so a killed process loses no change.
 * If the write fails, for example on a full disk, the change throws and has no effect. Values are JSON.
 */
export class KeptMap<Value> extends Map<string, Value> {
  private readonly write: StatementSync;
  private readonly remove: StatementSync;

  constructor(file: DatabaseSync, table: string) {
    super();
    // Keeps the order of the first write of each key, like a Map.
    file.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (position INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL)`,
    );
    for (const { key, value } of file.prepare(`SELECT key, value FROM ${table} ORDER BY position`).iterate()) {
      super.set(String(key), JSON.parse(String(value)));
    }
    this.write = file.prepare(
      `INSERT INTO ${table} (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    );
    this.remove = file.prepare(`DELETE FROM ${table} WHERE key = ?`);
  }

  override set(key: string, value: Value): this {
    this.write.run(key, JSON.stringify(value));
    return super.set(key, value);
  }

  override delete(key: string): boolean {
    if (this.has(key)) this.remove.run(key);
    return super.delete(key);
  }
}
