import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { command, runCommand } from '../../../infra/commands/command.ts';
import { projectRoot } from '../../../infra/project-root.ts';
import { LONG } from '../../../vitest.config.ts';
import { BUGS, type PlantedBug, planted } from './bugs.ts';

/** The configurations of tests other than the default. */
const CONFIGS = [
  [['test/unit/**', 'test/memory/simulation/**'], 'test/measure/planted/vitest.config.ts'],
  [['test/browser/**'], 'test/browser/vitest.config.ts'],
  [LONG, 'test/stack/long/vitest.config.ts'],
] as const;

/** The number of bugs that are tried at the same time. */
const AT_ONCE = 2;

const USAGE = {
  command: 'npm run planted',
  positionals: '[TEXT]',
  about: `Plants each bug of test/measure/planted/bugs.ts in a copy of the repository, and requires that its test fails. TEXT selects the
bugs whose name or file contains it.`,
  options: {},
} as const;

await runCommand(
  command(USAGE, async ({ positionals: [text = ''] }) => {
    const waiting = BUGS.filter(({ name, file }) => `${name} ${file}`.includes(text));
    const survivors: string[] = [];
    let found = 0;
    const work = async (): Promise<void> => {
      const copy = copyOfRepository();
      for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
        const isFound = await fails(bug, copy);
        process.stdout.write(`${isFound ? 'found   ' : 'SURVIVED'} ${bug.name} (${bug.file}, ${bug.test})\n`);
        if (isFound) found++;
        else survivors.push(bug.name);
      }
      rmSync(copy, { recursive: true, force: true });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    process.stdout.write(`\n${found} found, ${survivors.length} survived\n`);
    process.exitCode = survivors.length > 0 ? 1 : 0;
  }),
);

/** Copies the files that git lists, with the installed packages. */
function copyOfRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'planted-'));
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: projectRoot,
  });
  for (const file of listed.toString().split('\0').filter(Boolean)) cpSync(join(projectRoot, file), join(copy, file));
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Whether the test of a bug fails with the bug. Its tests pass without it, as `npm test` shows. */
async function fails(bug: PlantedBug, copy: string): Promise<boolean> {
  const path = join(copy, bug.file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, planted(bug, text));
  const [, config] = CONFIGS.find(([globs]) => globs.some((glob) => matchesGlob(bug.test, glob))) ?? [];
  const args = ['run', '--bail=1', ...(config ? ['--config', config] : []), bug.test];
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const [isFound, printed] = await new Promise<[boolean, string]>((resolve) => {
    const options = { cwd: copy, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, [vitest, ...args], options, (error, stdout, stderr) =>
      resolve([error !== null, stdout + stderr]),
    );
  });
  writeFileSync(path, text);
  if (printed.includes('No test files found')) throw new Error(`No test of ${bug.test} ran`);
  return isFound;
}
