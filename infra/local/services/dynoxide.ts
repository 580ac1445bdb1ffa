import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bytesIn, type DataFile, oldestItems, RECORDS_TOGETHER } from './data-file.ts';

/*
 * Dynoxide (https://github.com/nubo-db/dynoxide) implements the protocol of DynamoDB on SQLite in one binary. npm installs only
 * the package of this platform, if there is one.
 */

/** The path of the binary, or `null` if the platform has no package. */
export function dynoxideBinary(): string | null {
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/dynoxide`);
  } catch {
    return null;
  }
}

/** A started database. */
export interface Started {
  child: ChildProcess;
  /** Called when the database responds. Opens its file. */
  open?(): DataFile & { close(): void };
  /** The directory to delete when the process has ended. */
  temporary?: string;
}

/** Starts Dynoxide on a port. Its file is in `directory`, or by default in a temporary directory. */
export function startDynoxide(binary: string, port: number, directory: string | undefined): Started {
  const place = directory ?? mkdtempSync(join(temporaryPlace(), 'database-'));
  const file = join(place, 'dynoxide.db');
  return {
    child: spawn(binary, ['serve', '--port', String(port), '--db-path', file], { stdio: 'ignore' }),
    open: () => openFile(file),
    ...(directory === undefined && { temporary: place }),
  };
}

/** Keys contain the type of their value, such as `S:PROJECT#prj_1`. */
const COLUMNS = `substr(pk, 3) AS pk, substr(sk, 3) AS sk, json_extract(item_json, '$.expires.N') AS expires`;

/** Opens the file of a running Dynoxide. Writes of both processes wait for each other. */
function openFile(path: string) {
  const file = new DatabaseSync(path);
  file.exec('PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL');
  indexStreams(file);
  file.exec('PRAGMA busy_timeout = 100'); // this process waits, and a later pass can do the same work
  const first = `SELECT id, created_at, CAST(sequence_number AS INTEGER) AS position FROM _stream_records
    WHERE table_name = ?1 ORDER BY position LIMIT ${RECORDS_TOGETHER}`;
  // The last record stays, because the next sequence number follows it.
  const removal = file.prepare(`DELETE FROM _stream_records
    WHERE id IN (SELECT id FROM (${first}) WHERE position < ?2 OR created_at < ?3)
    AND id < (SELECT max(id) FROM _stream_records)`);
  const data: DataFile = {
    bytes: () => bytesIn(file),
    oldestItems: (table, range) => oldestItems(file, { rows: `"${table}"`, columns: COLUMNS }, range),
    removeRecords: (table, { sequence, at }) => void removal.run(table, sequence, at),
  };
  return { ...data, close: () => file.close() };
}

/**
 * Adds indexes to the stream tables. Every write of Dynoxide searches the last record of the stream, and every read searches the
 * next one. Without an index, it scans all records, and the 20,000th write took ten times as long as the first.
 */
function indexStreams(file: DatabaseSync): void {
  for (const columns of ['table_name', 'table_name, shard_id']) {
    const name = `_stream_records_by_${columns.replace(', ', '_')}`;
    const position = 'CAST(sequence_number AS INTEGER)';
    file.exec(`CREATE INDEX IF NOT EXISTS ${name} ON _stream_records (${columns}, ${position})`);
  }
}

const SHARED_MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 30;

/** A memory file system if the platform has one, because these data are temporary. */
function temporaryPlace(): string {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (bavail * bsize >= ENOUGH_BYTES) return SHARED_MEMORY;
  } catch {
    // The platform has no memory file system.
  }
  return tmpdir();
}
