import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../../../functions/site/docs/render/docs.ts';
import { projectRoot } from '../../../infra/project-root.ts';
import { temporaryDirectory } from '../../support/after-file.ts';
import { freePort } from '../../support/endpoints.ts';
import { npmStart } from '../../support/npm-start.ts';
import { READER_ENVIRONMENT } from '../../support/reader-environment.ts';
import { request } from '../../support/service.ts';

/** The promise of the documentation. */
const FIVE_MINUTES_MS = 300_000;

const python = process.env.PYTHON ?? 'python3';
const home = temporaryDirectory();
const started = npmStart(join(home, '.local'), ['--receiver-port', '0']);
const folderOf = () => mkdtempSync(join(home, 'folder-'));

/** The base URL and the keys of an integrator. */
let base: string;
let keys: { admin: string; live: string };
beforeAll(async () => {
  const { stack } = await started.ready();
  ({ base_url: base, keys } = stack);
});

const create = async (path: string, credential: string, body: object) =>
  (await request(base, 'POST', path, { body, headers: { Authorization: `Bearer ${credential}` } })).body;

/** Returns the code of a page of the documentation, or of one of its sections, as a browser shows it. */
async function codeOf(page: string, language: string, section?: string): Promise<string[]> {
  const response = await fetch(`${base}/docs/${page}`);
  expect(response.status).toBe(200);
  const html = (await response.text())
    .split(section ? `<h2 id="${section}">` : '<main')
    .slice(1)
    .join('');
  const shown = section ? (html.split('<h2 ')[0] ?? '') : html;
  return [...shown.matchAll(/<figure data-language="(.+?)"><pre tabindex="0"><code>([\s\S]*?)<\/code>/g)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code.replace(/<[^>]+>/g, '').replace(/&(\w+|#x27);/g, (_, name) => ENTITIES[name] ?? ''));
}
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/** Runs commands as a reader would, in an empty folder. A response of 4xx or 5xx ends them. Returns what they print. */
async function follow(commands: readonly string[], folder = folderOf()): Promise<string> {
  // A delivery can take longer than the second that a guide waits.
  const curl = 'curl() { command curl -sS --fail-with-body --retry 9 --retry-delay 1 --retry-all-errors "$@"; echo; }';
  // Each background job has a process group, so that its children end with it.
  const end = "trap 'for job in $(jobs -p); do kill -- -$job || true; done 2> /dev/null' EXIT";
  const script = ['set -em', end, curl, ...commands].join('\n');
  const options = { cwd: folder, timeout: FIVE_MINUTES_MS, env: READER_ENVIRONMENT };
  const { stdout } = await promisify(execFile)('bash', ['-c', script], options).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
  return stdout;
}

it('runs every command of the README in order, up to a conflict of two replicas', async () => {
  const readme = readFileSync('README.md', 'utf8');
  const sections = ['Your first webhook', 'Calling the API'].map(
    (name) => readme.split(`\n## ${name}\n`)[1]?.split('\n## ')[0],
  );
  const commands = [...sections.join('\n').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  expect(commands.length).toBeGreaterThan(6);
  expect(await follow(commands, home)).toMatch(/"conflicts":\[\{"field":"title"/);
});

it('follows the quickstart from an empty folder to a verified webhook in its own Express server', async () => {
  const [start, addresses = ''] = await codeOf('local', 'curl');
  expect(start).toBe('npm ci && npm start');
  const write = await codeOf('quickstart', 'curl', 'write-a-document');
  const [install = '', startReceiver = '', ...change] = await codeOf('quickstart', 'curl', 'your-own-webhook');
  const [receiver = ''] = await codeOf('quickstart', 'JavaScript');
  const port = await freePort();
  const own = (text: string) => text.replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`).replaceAll('4000,', `${port},`);
  writeFileSync(join(home, 'express.mjs'), own(receiver));
  const printed = await follow(
    [
      addresses,
      ...write,
      withLocalPackages(install),
      'cp ../express.mjs receiver.mjs',
      own(startReceiver).replace(/node receiver.mjs &\n?$/, 'node receiver.mjs > receiver.log &'),
      `until command curl -s -o /dev/null http://127.0.0.1:${port}; do kill -0 $!; sleep 0.1; done`,
      ...change.map(own),
      'until grep -q verified receiver.log; do kill -0 $!; sleep 0.1; done; cat receiver.log',
      ...(await codeOf('quickstart', 'curl', 'events-from-your-own-sync-engine')),
      ...(await codeOf('quickstart', 'curl', 'clean-up')),
    ],
    home,
  );
  expect(printed).toMatch(/\nverified document\.changed evt_\w+\n{"id":"evt_\w+",.*"org:acme:from-my-engine"/);
});

/** Tests do not use the registry, so the folder has the packages that `npm ci` installed. */
function withLocalPackages(install: string): string {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  return install.replace(/npm install ([\w -]+)/, (_, packages) => {
    for (const name of packages.trim().split(' ')) expect(Object.keys(devDependencies)).toContain(name);
    return `ln -s '${join(projectRoot, 'node_modules')}' node_modules`;
  });
}

describe('a guide works with a base URL and a key', () => {
  /** Sets the variables that a guide shows as `KEY=svc_live_…`. */
  async function withValues(commands: readonly string[]): Promise<string[]> {
    const { id } = await create('/v1/keys', keys.admin, { type: 'live' });
    const webhook = { url: 'http://127.0.0.1:9/hook', events: ['document.changed'] };
    const token = { documents: ['org:acme:*'], permissions: ['read', 'write'], ttl: 600 };
    const values: Record<string, string> = {
      svc_live_: keys.live,
      svc_admin_: keys.admin,
      key_: id,
      whk_: (await create('/v1/webhooks', keys.live, webhook)).id,
      eyJ: (await create('/v1/tokens', keys.live, token)).token,
    };
    return commands.map((text) => text.replace(/(?<==)(\w+)…$/gm, (_, prefix) => values[prefix] ?? ''));
  }

  it.each([
    ['keys', [/"replaces":"key_\w+","replaced_by":null,"key":"svc_live_/]],
    ['tokens', [/^{"token":"eyJ/m, /^{"active":true,.+"permissions":\["read","write"\],.*"allowed":true,/m]],
    ['dashboard-links', [/^{"url":"http:\/\/.+\/dashboard#session=eyJ/m]],
    ['sync', [/"status":"merged","revision":\d+,"conflicts":\[{"field":"title"/, /"node_id":"laptop"/]],
    ['events', [/^{"data":\[{"id":"evt_\w+","type":"document.changed"/m]],
    ['retries', [/"count":0/, /"max_per_second":20/]],
  ])('%s', async (page, expected) => {
    const commands = await withValues(await codeOf(page, 'curl'));
    await request(base, 'PUT', '/v1/documents/org:acme:hello', {
      body: { fields: { title: 'Draft' } },
      headers: { Authorization: `Bearer ${keys.live}` },
    });
    const printed = await follow(commands);
    for (const pattern of expected) expect(printed).toMatch(pattern);
  });

  it('tokens: the server for a web page', async () => {
    const [program = ''] = await codeOf('tokens', 'JavaScript');
    const port = await freePort();
    const folder = folderOf();
    symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
    const server = `import express from 'express';
      const app = express();
      const requireUser = (request, _response, next) => next((request.user = { org: 'acme' }) && undefined);
      ${program}
      app.listen(${port}, '127.0.0.1');`;
    writeFileSync(join(folder, 'server.mjs'), server);
    const printed = await follow(
      [
        `KEY=${keys.live} node server.mjs &`,
        `until command curl -s -o /dev/null http://127.0.0.1:${port}; do kill -0 $!; sleep 0.1; done`,
        `curl -X POST http://127.0.0.1:${port}/sync-token`,
      ],
      folder,
    );
    const { token } = JSON.parse(printed);
    const headers = { Authorization: `Bearer ${token}` };
    expect((await request(base, 'GET', '/v1/documents?prefix=org:acme', { headers })).status).toBe(200);
  });

  const usesFlask = spawnSync(python, ['-c', 'import flask']).status === 0;
  it.each(
    [
      { language: 'JavaScript', file: 'server.mjs', canRun: true },
      { language: 'Python', file: 'server.py', canRun: usesFlask },
    ].filter(({ canRun }) => canRun),
  )('dashboard links: the server that redirects to one, in $language', async ({ language, file }) => {
    const [program = ''] = await codeOf('dashboard-links', language);
    const [port, folder] = [await freePort(), folderOf()];
    symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
    const express = `import express from 'express';
      const app = express();
      const requireUser = (request, _response, next) => next((request.user = { email: 'ann@example.com' }) && undefined);
      ${program}
      app.listen(${port}, '127.0.0.1');`;
    const flask = `from types import SimpleNamespace
from flask import Flask
app = Flask(__name__)
def user_required(handler):
    return lambda: handler(SimpleNamespace(email="ann@example.com", is_developer=False))
${program}
app.run(port=${port})`;
    writeFileSync(join(folder, file), language === 'Python' ? flask : express);
    const address = `http://127.0.0.1:${port}`;
    const printed = await follow(
      [
        `KEY=${keys.live} ${language === 'Python' ? python : 'node'} ${file} &`,
        `until command curl -s -o /dev/null ${address}; do kill -0 $!; sleep 0.1; done`,
        `curl -i ${address}/webhooks`,
      ],
      folder,
    );
    expect(printed).toMatch(/^HTTP\/1\.1 303 /m);
    expect(printed).toMatch(/^cache-control: no-store/im);
    const [, session] = /^location: \S+\/dashboard#session=(\S+)/im.exec(printed) ?? [];
    const headers = { Authorization: `Bearer ${session}` };
    expect((await request(base, 'GET', '/v1/webhooks', { headers })).status).toBe(200);
    expect((await request(base, 'POST', '/v1/webhooks', { headers, body: {} })).status).toBe(403);
  });

  it('and the commands of every guide are followed', () => {
    const guides = chapters().filter(({ kind, title }) => kind === 'Guide' && title !== 'For operators');
    const withCommands = guides
      .flatMap(({ articles }) => articles)
      .filter(({ html }) => html.includes('data-language="curl"'))
      .map(({ name }) => name);
    const here = ['keys', 'tokens', 'dashboard-links', 'sync', 'events', 'retries', 'quickstart'];
    /** `generated-clients.test.ts`, `engines.test.ts`, `receivers.test.ts` and `package.test.ts` follow these. */
    const elsewhere = ['', 'connect-engine', 'receivers', 'receiving'];
    const forOperators = ['changelog'];
    expect(withCommands.sort()).toEqual([...here, ...elsewhere, ...forOperators].sort());
  });
});
