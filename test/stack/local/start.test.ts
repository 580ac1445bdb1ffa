import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parse } from '../../../infra/commands/usage.ts';
import { readArguments, USAGE } from '../../../infra/local/arguments.ts';
import { createDirectory } from '../../../infra/local/kept.ts';
import { UserError } from '../../../infra/user-error.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { npmStart } from '../../support/npm-start.ts';
import { LOOPBACK, listeningAddresses, processesOf } from './processes.ts';

afterEach(() => void vi.unstubAllEnvs());

/** Most tests of `npm start` are long. See kept.test.ts. */
describe('npm start', () => {
  it('listens only on loopback, shows its secrets only to its user, and keeps its data from a second start', async () => {
    const directory = temporaryDirectory();
    const service = npmStart(directory, ['--keep']);
    const { output, stack } = await service.ready();
    const addresses = listeningAddresses(processesOf(service.pid));
    expect(addresses).toEqual([LOOPBACK, LOOPBACK, LOOPBACK, LOOPBACK]);
    expect(statSync(join(directory, 'stack.json')).mode & 0o777).toBe(0o600);
    expect(output).toContain(`webhook secret  ${stack.webhook_secret}\n`);
    expect(output).toMatch(/ {2}dashboard {7}http:\/\/127\.0\.0\.1:\d+\/_local\/sign-in#[\w-]{22}\n/);
    const second = await npmStart(directory, ['--keep']).ended;
    expect(second).toEqual({ code: 1, output: expect.stringMatching(/^Another `npm start -- --keep` uses .+\.\n$/) });
  });

  it('rejects an invalid port with a short message', () => {
    const args = parse(USAGE, ['--port', 'http']);
    expect(() => readArguments(args as never)).toThrow('--port must be an integer from 0 to 65535.');
  });

  it.each([
    ['--database', ['--database', 'postgres']],
    ['The variable DATABASE', []],
  ])('names %s as the source of an unknown database', (source, given) => {
    vi.stubEnv('DATABASE', 'postgres');
    const args = parse(USAGE, given);
    expect(() => readArguments(args as never)).toThrow(`${source} must be one of dynoxide, memory, dynamodb-local.`);
  });

  it.each(['/dev/null/x', '/proc/x', 'package.json'])('rejects the directory %s with a short message', (path) => {
    expect(() => createDirectory(resolve(path))).toThrow(UserError);
    expect(() => createDirectory(resolve(path))).toThrow(/^Cannot use .+: .+\.$/);
  });

  it('explains its options on one screen', () => {
    const lines = String(parse(USAGE, ['--help'])).split('\n');
    expect(lines.length).toBeLessThan(24);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(120);
  });
});
