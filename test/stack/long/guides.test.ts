import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { snippetsIn } from '../../../functions/site/docs/render/guides.ts';
import { projectRoot } from '../../../infra/project-root.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { freePort } from '../../support/endpoints.ts';
import { npmStart } from '../../support/npm-start.ts';

/** The promise of the documentation. */
const FIVE_MINUTES_MS = 300_000;

const guide = (name: string) => readFileSync(`functions/site/docs/guides/${name}.md`, 'utf8');

/** The commands of a text, in their order. */
const commandsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, text = '']) => text);

/** The commands of a section of the quickstart. */
const commandsIn = (heading: string): string[] =>
  commandsOf(guide('quickstart').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '');

const home = temporaryDirectory();
const stack = npmStart(join(home, '.local'));

it(
  'runs every command of the README in order, up to a conflict of two replicas',
  async () => {
    const readme = readFileSync('README.md', 'utf8');
    const sections = ['Your first webhook', 'Calling the API'].map(
      (name) => readme.split(`\n## ${name}\n`)[1]?.split('\n## ')[0],
    );
    const commands = [...sections.join('\n').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text);
    expect(commands.length).toBeGreaterThan(6);
    await stack.ready();
    // A delivery can take longer than the second that the README waits.
    const script = [
      'set -e',
      'curl() { command curl -sS --fail --retry 9 --retry-delay 1 --retry-all-errors "$@"; echo; }',
      ...commands,
    ].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: home, timeout: FIVE_MINUTES_MS });
    expect(stdout).toMatch(/"conflicts":\[\{"field":"title"/);
  },
  FIVE_MINUTES_MS,
);

it(
  'follows the quickstart from an empty folder to a verified webhook in its own Express server',
  async () => {
    const [start, addresses = ''] = commandsOf(guide('local'));
    const first = [addresses, ...commandsIn('Write a document')];
    const [install = '', create = '', ...rest] = commandsIn('Your own webhook');
    expect(start).toBe('npm ci && npm start\n');
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [, packages = ''] = /npm install (.+)\n/.exec(install) ?? [];
    for (const name of packages.split(' ')) expect(Object.keys(devDependencies)).toContain(name);

    const port = await freePort();
    const own = (text: string) =>
      text.replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`).replaceAll('4000,', `${port},`);
    writeFileSync(join(home, 'express.mjs'), own(snippetsIn(guide('receivers'), 'Express').get('javascript') ?? ''));
    const script = [
      'set -e',
      ...first,
      // Tests do not use the registry, so the folder has the packages that npm ci installed.
      install.replace(`npm install ${packages}`, `ln -s '${join(projectRoot, 'node_modules')}' node_modules`),
      'cp ../express.mjs receiver.mjs',
      `{ ${own(create).trim().replace(/&$/, '> receiver.log &')} }`,
      'receiver=$!; trap "kill $receiver" EXIT',
      `until curl -s -o /dev/null http://127.0.0.1:${port}; do kill -0 $receiver; sleep 0.1; done`,
      ...rest.map(own),
      'until grep -q verified receiver.log; do kill -0 $receiver; sleep 0.1; done',
      'echo; cat receiver.log',
    ].join('\n');
    await stack.ready();
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: home, timeout: FIVE_MINUTES_MS });
    expect(stdout).toMatch(/\nverified document\.changed evt_\w+\n$/);
  },
  FIVE_MINUTES_MS,
);
