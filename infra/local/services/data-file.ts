import type { DatabaseSync } from 'node:sqlite';

/** The key of an item in the order of the last writes. `expires` is in seconds. */
export interface PlacedItem {
  place: number;
  pk: string;
  sk: string;
  expires: number | null;
}

/** The part of a table to read: after a place, without the newest items. */
export interface PlaceRange {
  after: number;
  newest: number;
  limit: number;
}

/** The records of a stream that are removed: those before a sequence number, and those before a Unix time in seconds. */
export interface PassedRecords {
  sequence: number;
  at: number;
}

/** The SQLite file of a local database. Dynoxide and the database in memory have different tables. */
export interface DataFile {
  /** The bytes in use. The file does not shrink, but SQLite uses free pages again. */
  bytes(): number;
  oldestItems(table: string, range: PlaceRange): PlacedItem[];
  /** Removes such records of the oldest `RECORDS_TOGETHER`. */
  removeRecords(table: string, passed: PassedRecords): void;
}

export const RECORDS_TOGETHER = 10_000;
/** How long a stream keeps its records (DynamoDB Developer Guide, "Change data capture for DynamoDB Streams"). */
export const STREAM_SECONDS = 24 * 60 * 60;

/** Where a file contains the items of a table, in SQL. */
interface ItemRows {
  rows: string;
  condition?: string;
  /** The columns `pk`, `sk` and `expires`. */
  columns: string;
}

export function bytesIn(file: DatabaseSync): number {
  const pages = 'SELECT page_size * (page_count - freelist_count) AS bytes FROM';
  const row = file.prepare(`${pages} pragma_page_size, pragma_page_count, pragma_freelist_count`).get();
  return Number(row?.bytes);
}

/** Returns the items with the oldest writes first, because SQLite numbers rows in the order of their insertion. */
export function oldestItems(file: DatabaseSync, source: ItemRows, { after, newest, limit }: PlaceRange): PlacedItem[] {
  const { rows, condition = 'true', columns } = source;
  const old = `rowid > ? AND rowid <= (SELECT max(rowid) FROM ${rows}) - ?`;
  const selected = file.prepare(
    `SELECT rowid AS place, ${columns} FROM ${rows} WHERE ${condition} AND ${old} ORDER BY rowid LIMIT ?`,
  );
  return selected.all(after, newest, limit).map(({ place, pk, sk, expires }) => ({
    ...{ place: Number(place), pk: String(pk), sk: String(sk) },
    expires: expires === null ? null : Number(expires),
  }));
}
