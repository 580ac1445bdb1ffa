import type { StatsFs, statfsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { explainFullDisk, requireDiskSpace } from '../../../infra/local/disk-space.ts';
import { UserError } from '../../../infra/user-error.ts';

const SENTENCE = 'The disk of /data is full. Free some space, or choose another disk with --directory.';

describe('the disk space of a start', () => {
  const statfs = (bavail: number, blocks = 1_000_000) =>
    (() => ({ bavail, blocks, bsize: 4096 }) as StatsFs) as unknown as typeof statfsSync;

  it('is checked before anything is written', () => {
    expect(() => requireDiskSpace('/data', statfs(100))).toThrow(new UserError(SENTENCE));
    expect(() => requireDiskSpace('/data', statfs(10_000))).not.toThrow();
  });

  it('is not checked on a file system that reports no size', () => {
    expect(() => requireDiskSpace('/data', statfs(0, 0))).not.toThrow();
  });
});

describe('a failed write', () => {
  it('has a clear message when the disk is full', () => {
    const file = new DatabaseSync(':memory:');
    file.exec('CREATE TABLE a (b); PRAGMA max_page_count = 2');
    let full: unknown;
    try {
      file.prepare('INSERT INTO a VALUES (?)').run('x'.repeat(100_000));
    } catch (error) {
      full = error;
    }
    for (const error of [full, Object.assign(new Error('write'), { code: 'ENOSPC' })]) {
      expect(explainFullDisk(error, '/data')).toEqual(new UserError(SENTENCE));
    }
  });

  it('keeps every other error', () => {
    const error = Object.assign(new Error('open'), { code: 'EACCES' });
    expect(explainFullDisk(error, '/data')).toBe(error);
  });
});
