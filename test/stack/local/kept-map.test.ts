import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openKept } from '../../../infra/local/kept.ts';
import { UserError } from '../../../infra/user-error.ts';

const directory = mkdtempSync(join(tmpdir(), 'kept-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('kept data', () => {
  it.each([String(process.pid), '1'])('is usable after the process %s wrote a lock file and was killed', (pid) => {
    const path = join(directory, `stale-${pid}`);
    mkdirSync(path);
    writeFileSync(join(path, 'lock'), pid);
    expect(openKept(path)).toMatchObject({ directory: path, demo: undefined });
  });

  it('is usable by one process at a time, until the kernel ends that process', async () => {
    const path = join(directory, 'used');
    mkdirSync(path);
    const script = `
      const { openKept } = await import('${import.meta.resolve('../../../infra/local/kept.ts')}');
      openKept(process.argv[1]).state.messages.set('m1', {});
      console.log('open');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, path]);
    await once(child.stdout, 'data');
    expect(() => openKept(path)).toThrow(new UserError(`Another \`npm start -- --keep\` uses ${path}. Stop it first.`));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect([...openKept(path).state.messages.keys()]).toEqual(['m1']);
  });
});
