import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { bundleOptions } from '../infra/bundle.ts';
import { MissingSqliteError } from '../lib/client/sqlite.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const found = (pattern: RegExp, path: string) => pattern.exec(read(path))?.[1] ?? '';
const manifest = JSON.parse(read('package.json'));

// Each of them is stated once. CI runs the tests of each part with its oldest Node.js (`ci.test.ts`).
/** The Node.js that runs `npm ci`, which installs another one, and the commands of the npm package. */
const OF_CHECKOUT = manifest.engines.node.replace('>=', '');
/** The Node.js of servers that import the npm package. */
const OF_PACKAGE = found(/engines: \{ node: '>=([\d.]+)'/, 'infra/commands/package/build.ts');
/** The user's own Node.js, on a system for which npm has no Node.js package. */
const OF_STACK = found(/MIN_MAJOR = (\d+)/, 'infra/require-install.cjs');
const OF_LAMBDA = bundleOptions.target.replace('node', '');
const OF_NPM = Object.entries<string>(manifest.optionalDependencies).flatMap(([name, version]) =>
  name.startsWith('node-') ? [String(Number.parseInt(version, 10))] : [],
);

/** The oldest Node.js versions that each text states, in order. No other text states one. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  'README.md': [OF_CHECKOUT],
  'functions/site/docs/guides/local.md': [OF_CHECKOUT],
  'infra/local/README.md': [OF_STACK],
  'lib/client/README.md': [OF_PACKAGE, OF_CHECKOUT],
  'lib/client/sqlite.ts': [OF_PACKAGE],
  'CHANGELOG.md': [OF_PACKAGE],
};
const FLOOR = /\bNode(?:\.js)?,?(?: which must be)? (\d+(?:\.\d+)*) or newer/g;
const MENTION = /\bNode(?:\.js)? v?(\d+(?:\.\d+)*)/g;

const texts = execFileSync('git', ['ls-files', '*.md', 'lib/*.ts', 'infra/*.ts', 'functions/*.ts'], {
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .map((path) => ({ path, text: read(path).replace(/\s+(?:\* )?/g, ' ') }));
const versionsIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, version]) => version);

it('states the oldest Node.js of its part in each text', () => {
  const stated = texts.flatMap(({ path, text }) => {
    const versions = versionsIn(text, FLOOR);
    return versions.length === 0 ? [] : [[path, versions]];
  });
  expect(Object.fromEntries(stated)).toEqual(FLOORS);
});

it('names only Node.js versions that this project uses', () => {
  const known = new Set([OF_CHECKOUT, OF_PACKAGE, OF_STACK, OF_LAMBDA, ...OF_NPM]);
  const unknown = texts.flatMap(({ path, text }) =>
    versionsIn(text, MENTION)
      .filter((version = '') => !known.has(version))
      .map((version) => `${path}: ${version}`),
  );
  expect(unknown).toEqual([]);
});

it('the npm package names its own oldest Node.js if SQLite is missing', () => {
  expect(new MissingSqliteError().message).toBe(`Node.js ${OF_PACKAGE} or newer`);
});

it('commands run TypeScript with the Node.js of npm ci, because the one of a checkout may not', () => {
  const direct = /(?<!npx )\bnode (?:infra|test|lib|functions)\/\S+\.ts/g;
  const found = texts.flatMap(({ path, text }) => (path.endsWith('.md') ? [...text.matchAll(direct)].map(String) : []));
  expect(found).toEqual([]);
});
