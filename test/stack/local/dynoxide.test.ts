import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { startDatabase } from '../../../infra/local/services/database.ts';
import { dynoxideBinary } from '../../../infra/local/services/dynoxide.ts';

const directory = mkdtempSync(join(tmpdir(), 'dynoxide-test-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

// The queries in the binary.
const LAST = 'SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) FROM _stream_records WHERE table_name = ?';
const NEXT = `SELECT * FROM _stream_records WHERE table_name = ? AND shard_id = ? AND CAST(sequence_number AS INTEGER) > ?
  ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT 10`;

it.runIf(dynoxideBinary() !== null)('finds its place in a stream without reading all of it', async () => {
  const { stop } = await startDatabase('dynoxide', directory);
  const file = new DatabaseSync(join(directory, 'dynoxide.db'));
  for (const query of [LAST, NEXT]) {
    const plan = file.prepare(`EXPLAIN QUERY PLAN ${query}`).all();
    expect(plan.map(({ detail }) => String(detail))).toEqual([expect.stringMatching(/^SEARCH _stream_records USING/)]);
  }
  file.close();
  stop();
});
