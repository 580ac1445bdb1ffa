import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryOutbox, type Outbox, sqliteOutbox } from '../../../lib/client/outbox.ts';
import { publisher } from '../../../lib/client/publisher.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { event, ingest, revisionsOf } from './ingest.ts';

const directory = temporaryDirectory();
afterEach(() => void vi.restoreAllMocks());
let files = 0;
const newFile = () => join(directory, `${++files}.sqlite`);

describe.each<[name: string, create: () => Outbox]>([
  ['memory', memoryOutbox],
  ['a file', () => sqliteOutbox(newFile())],
])('an outbox in %s', (_, create) => {
  it('keeps the order of its events and their batches', async () => {
    const outbox = create();
    for (const text of ['{"a":1}', '"é\u2028\\ud800"', '3']) await outbox.add(text);
    const [first, second, third] = await outbox.first(10);
    expect([first, second, third].map((entry) => entry?.event)).toEqual(['{"a":1}', '"é\u2028\\ud800"', '3']);
    await outbox.assign([first?.id ?? 0, third?.id ?? 0], 'key');
    await outbox.remove([first?.id ?? 0]);
    expect(await outbox.first(10)).toMatchObject([
      { id: second?.id, batch: null },
      { id: third?.id, batch: 'key' },
    ]);
    expect(await outbox.first(1)).toHaveLength(1);
    expect(await outbox.count()).toBe(2);
    await outbox.remove([second?.id ?? 0, third?.id ?? 0]);
    await outbox.add('4');
    expect((await outbox.first(1))[0]?.id).toBeGreaterThan(third?.id ?? 0);
    await outbox.close?.();
  });
});

describe('an outbox in a file', () => {
  it('continues with the same batch and the same key after a restart, and is closed once', async () => {
    const file = newFile();
    const down = ingest({ fate: () => 'lost' });
    const before = await publisher({ ...down.access, outbox: sqliteOutbox(file) });
    for (const revision of [1, 2, 3]) await before.publish(event(revision));
    void before.flush();
    await expect.poll(() => down.requests, { timeout: 60_000 }).toHaveLength(1);
    await before.publish(event(4));
    expect(await before.close(0)).toBe(4);

    const up = ingest();
    const after = await publisher({ ...up.access, outbox: sqliteOutbox(file) });
    expect(after.stats().buffered).toBe(4);
    expect(await Promise.all([after.close(), after.close()])).toEqual([0, 0]);
    expect(up.requests[0]).toEqual(down.requests[0]);
    expect(up.requests.map(({ events }) => revisionsOf(events))).toEqual([[1, 2, 3], [4]]);
  });

  it('continues with a file of an earlier version', () => {
    const file = newFile();
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT, batch TEXT)');
    database.exec(`INSERT INTO events (event, batch) VALUES ('1', 'key'), ('2', NULL)`);
    database.close();
    const outbox = sqliteOutbox(file);
    outbox.add('3');
    const events = [
      { id: 1, event: '1', batch: 'key' },
      { id: 2, event: '2', batch: null },
      { id: 3, event: '3', batch: null },
    ];
    expect(outbox.first(10)).toMatchObject(events);
    outbox.close?.();
  });

  it('writes each complete change to the disk before it continues, so that a power failure loses nothing', () => {
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
    const outbox = sqliteOutbox(newFile());
    const database = exec.mock.contexts[0] as DatabaseSync;
    expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 }); // FULL (SQLite, "PRAGMA synchronous")
    for (let i = 0; i < 2; i++) outbox.add('1');
    database.exec(`CREATE TRIGGER stop BEFORE DELETE ON events WHEN old.id = 2 BEGIN SELECT RAISE(ABORT, 'stop'); END`);
    expect(() => outbox.remove([1, 2])).toThrow('stop'); // removes all events of a batch or none
    expect(outbox.count()).toBe(2);
    outbox.close?.();
  });

  it('is used by one process at a time', () => {
    const file = newFile();
    const outbox = sqliteOutbox(file);
    expect(() => sqliteOutbox(file)).toThrow(`The outbox ${file} cannot be opened: another process uses it.`);
    const source = pathToFileURL(resolve('lib/client/outbox.ts')).href;
    const program = `import { sqliteOutbox } from ${JSON.stringify(source)}; sqliteOutbox(process.argv[1]);`;
    const other = () => spawnSync(process.execPath, ['--input-type=module', '--eval', program, file]).status;
    expect(other()).toBe(1);
    outbox.close?.();
    expect(other()).toBe(0);
  });

  it('creates files that only the user of the process can read', () => {
    const file = newFile();
    const outbox = sqliteOutbox(file);
    outbox.add('1');
    const files = readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)));
    expect(files).toContain(`${basename(file)}-wal`);
    for (const name of files) expect(statSync(join(dirname(file), name)).mode & 0o777, name).toBe(0o600);
    outbox.close?.();
  });

  it('states why a file cannot be used', () => {
    const damaged = newFile();
    writeFileSync(damaged, 'no database'.repeat(100));
    expect(() => sqliteOutbox(damaged)).toThrow(`The outbox ${damaged} cannot be opened: file is not a database.`);
    expect(() => sqliteOutbox('/nope/outbox')).toThrow(
      'The outbox /nope/outbox cannot be opened: ENOENT: no such file',
    );
  });

  it('needs a Node.js that has SQLite', () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    expect(() => sqliteOutbox(newFile())).toThrow(
      'sqliteOutbox requires Node.js 22.13 or newer. Pass an Outbox with your own database instead.',
    );
  });
});
