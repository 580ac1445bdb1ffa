import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { snippetsIn } from '../../../../functions/site/docs/render/guides.ts';
import { projectRoot } from '../../../../infra/project-root.ts';
import { signatureHeaders } from '../../../../lib/webhooks/signing.ts';
import { afterFile, temporaryDirectory } from '../../../support/after-file.ts';
import { freePort } from '../../../support/endpoints.ts';

const guide = (name: string) => readFileSync(`functions/site/docs/guides/${name}.md`, 'utf8');
const receivers = guide('receivers');
const codeOf = (heading: string, language: string) => snippetsIn(receivers, heading).get(language) ?? '';

const secret = 'whsec_bGlzdGVuIHRvIG1lLCBsaXN0ZW4gdG8gbWU=';
const directory = temporaryDirectory();
symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
const started: ChildProcess[] = [];
afterFile(() => {
  for (const { pid, exitCode } of started) if (pid && exitCode === null) process.kill(-pid);
});

const python = process.env.PYTHON ?? 'python3';
const hasModule = (...names: string[]) =>
  spawnSync(python, ['-c', names.map((name) => `import ${name}`).join('\n')]).status === 0;

/** How each example is started on a port. Frameworks that the machine does not have are left out. */
const SERVERS: { name: string; language: string; file: string; command(port: number): string[]; canRun: boolean }[] = [
  {
    name: 'Express',
    language: 'javascript',
    file: 'receiver.mjs',
    command: () => [process.execPath, 'receiver.mjs'],
    canRun: true,
  },
  {
    name: 'FastAPI',
    language: 'python',
    file: 'fast.py',
    command: (port) => [python, '-m', 'uvicorn', 'fast:app', '--port', String(port)],
    canRun: hasModule('fastapi', 'uvicorn'),
  },
  {
    name: 'Flask',
    language: 'python',
    file: 'flasked.py',
    command: (port) => [python, '-m', 'flask', '--app', 'flasked', 'run', '--port', String(port)],
    canRun: hasModule('flask'),
  },
  {
    name: 'Go',
    language: 'go',
    file: 'receiver.go',
    command: () => ['go', 'run', 'receiver.go'],
    canRun: spawnSync('go', ['version']).status === 0,
  },
];

/** A signed delivery of 200 KB, because frameworks limit bodies to less than an event can have. */
function delivery(id: string, given = secret) {
  const body = JSON.stringify({ id, type: 'document.changed', data: { text: 'Füße 😀'.padEnd(200_000) } });
  const signed = signatureHeaders({ secret: given, id, timestampSeconds: Math.floor(Date.now() / 1000), body });
  return { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...signed } };
}

/** Checks what every receiver must do, and returns the lines that it must have printed. */
async function expectReceiver(send: (init: RequestInit) => Promise<number>): Promise<string[]> {
  expect(await send(delivery('evt_1'))).toBe(204);
  expect(await send(delivery('evt_1'))).toBe(204);
  expect(await send(delivery('evt_2', 'whsec_YW5vdGhlciBzZWNyZXQgb2YgMjQgYnl0ZXM='))).toBe(401);
  const { method, body, headers } = delivery('evt_3');
  expect(await send({ method, headers, body: `${body} ` })).toBe(401);
  expect(await send({ method, body, headers: { 'Content-Type': 'application/json' } })).toBe(401);
  const unusual = { 'X-Service-Signature': 'é', 'webhook-signature': 'é' };
  expect(await send({ method, body, headers: { ...headers, ...unusual } })).toBe(401);
  expect(await send({ method: 'POST' })).toBe(401);
  expect(await send(delivery('evt_4'))).toBe(204);
  return ['verified document.changed evt_1', 'verified document.changed evt_4'];
}

describe('an example receiver', () => {
  it('is there for Express, Next.js, FastAPI, Flask and Go', () => {
    for (const { name, language } of SERVERS) expect(codeOf(name, language), name).toContain('SECRET');
    expect(codeOf('Next.js', 'javascript')).toContain('export async function POST');
  });

  it.each([...SERVERS, { name: 'Next.js', language: 'javascript' }])('stores an event before it responds: $name', ({
    name,
    language,
  }) => {
    const code = codeOf(name, language);
    expect(code).toContain('verified');
    expect(code.search(/204|StatusNoContent/)).toBeGreaterThan(code.indexOf('verified'));
  });

  it.each(SERVERS.filter(({ canRun }) => canRun))('accepts each genuine event once: $name', async (server) => {
    const port = await freePort();
    writeFileSync(join(directory, server.file), codeOf(server.name, server.language).replace('4000', String(port)));
    const [command = '', ...args] = server.command(port);
    const env = { ...process.env, SECRET: secret };
    const child = spawn(command, args, { cwd: directory, env, detached: true });
    started.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    const url = `http://127.0.0.1:${port}/hook`;
    await vi.waitFor(() => fetch(url), { timeout: 300_000, interval: 50 }); // Go compiles its standard library first
    const expected = await expectReceiver(async (init) => (await fetch(url, init)).status);
    await expect
      .poll(() => output.split('\n').filter((line) => line.startsWith('verified')), { timeout: 60_000 })
      .toEqual(expected);
  });

  it('accepts each genuine event once: Next.js', async () => {
    const file = join(directory, 'route.mjs');
    writeFileSync(file, codeOf('Next.js', 'javascript'));
    vi.stubEnv('SECRET', secret);
    const printed = vi.spyOn(console, 'log').mockImplementation(() => {});
    const { POST } = await import(/* @vite-ignore */ pathToFileURL(file).href);
    const url = 'https://receiver.example.com/hook';
    const expected = await expectReceiver(async (init) => (await POST(new Request(url, init))).status);
    expect(printed.mock.calls.flat()).toEqual(expected);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  it.each(['FastAPI', 'Flask'])('is valid Python with the tested verification: %s', (name) => {
    const code = codeOf(name, 'python');
    const verification = snippetsIn(guide('receiving'), 'Verify by hand').get('python') ?? '';
    const [, body = ''] = /(def is_genuine[\s\S]*)/.exec(verification) ?? [];
    expect(code).toContain(body);
    const { status, stderr } = spawnSync(python, ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
      input: code,
    });
    expect(status, String(stderr)).toBe(0);
  });

  it('is installed with packages that these tests run', () => {
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const [, packages = ''] of receivers.matchAll(/^npm install (.+)$/gm))
      for (const name of packages.split(' ')) expect(Object.keys(devDependencies)).toContain(name);
  });
});
