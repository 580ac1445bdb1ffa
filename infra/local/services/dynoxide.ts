import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

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
  /** Called when the database responds. */
  prepare?(): void;
  /** The directory to delete when the process has ended. */
  temporary?: string;
}

/** Starts Dynoxide on a port. Its file is in `directory`, or by default in a temporary directory. */
export function startDynoxide(binary: string, port: number, directory: string | undefined): Started {
  const place = directory ?? mkdtempSync(join(temporaryPlace(), 'database-'));
  const file = join(place, 'dynoxide.db');
  return {
    child: spawn(binary, ['serve', '--port', String(port), '--db-path', file], { stdio: 'ignore' }),
    prepare: () => indexStreams(file),
    ...(directory === undefined && { temporary: place }),
  };
}

/**
 * Adds indexes to the stream tables. Every write of Dynoxide searches the last record of the stream, and every read searches the
 * next one. Without an index, it scans all records, and the 20,000th write took ten times as long as the first.
 */
function indexStreams(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA busy_timeout = 5000');
  for (const columns of ['table_name', 'table_name, shard_id']) {
    const name = `_stream_records_by_${columns.replace(', ', '_')}`;
    const position = 'CAST(sequence_number AS INTEGER)';
    database.exec(`CREATE INDEX IF NOT EXISTS ${name} ON _stream_records (${columns}, ${position})`);
  }
  database.close();
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
