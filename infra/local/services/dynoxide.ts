import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/*
 * Dynoxide (https://github.com/nubo-db/dynoxide): DynamoDB's protocol on SQLite, one binary. npm installs the package of this
 * platform only, if there is one.
 */

/** Where the binary is; `null` if there is none for this platform. */
export function dynoxideBinary(): string | null {
  const file = process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/${file}`);
  } catch {
    return null;
  }
}

/** A database whose process has begun. */
export interface Started {
  child: ChildProcess;
  /** To be called when it answers. */
  prepare?(): void;
  /** The directory to remove when the process has ended. */
  temporary?: string;
}

/** Starts it on a port. Its file is in `directory`, or without one in a place of its own that goes with it. */
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
 * Every write of Dynoxide looks for the last record of the stream, and every read for the first one after its position; without
 * an index, among all that there ever were: the 20,000th write took ten times as long as the first.
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

/** Memory, where it can be had as a file system: nobody needs these data on a disk. */
function temporaryPlace(): string {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (bavail * bsize >= ENOUGH_BYTES) return SHARED_MEMORY;
  } catch {
    // There is none on this platform.
  }
  return tmpdir();
}
