import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { sampleData } from '../../../lib/events/data.ts';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { mint } from '../../support/documents.ts';
import { publishAll } from '../../support/requests.ts';
import { useService } from '../../support/service.ts';

/** The maximum number of types of a client, in addition to the request, response and error types of operations. */
const MAX_TYPES = 100;

const GENERATORS = resolve('test/stack/generators');
const directory = resolve('.local/generated-clients');
const python = join(directory, 'venv');
const service = useService();
const execute = promisify(execFile);

/** Runs a program in a folder of the generated clients, and returns its output. Throws the output of a program that fails. */
const run = (folder: string, command: string, args: string[], env: Record<string, string> = {}): Promise<string> =>
  execute(command, args, { cwd: join(directory, folder), env: { ...process.env, ...env } }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => Promise.reject(new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)),
  );

beforeAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const document = await fetch(`${service.stack.baseUrl}/v1/openapi.json`);
  writeFileSync(join(directory, 'openapi.json'), await document.text());
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(GENERATORS, file), join(directory, file));
  await Promise.all([
    run('.', 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']),
    run('.', 'python3', ['-m', 'venv', python]).then(() =>
      run('.', join(python, 'bin/pip'), ['install', '--quiet', '-r', join(GENERATORS, 'requirements.txt')]),
    ),
  ]);
});

/** Generates a client with openapi-generator, with the options of the guide. */
async function openApiGenerator(language: string, ...options: string[]): Promise<void> {
  const guide = readFileSync('functions/site/docs/guides/index.md', 'utf8');
  const [, inGuide] = new RegExp(`openapi-generator-cli generate .* -g ${language} (.+)`).exec(guide) ?? [];
  if (inGuide === undefined) throw new Error(`The guide has no command for ${language}`);
  const files = ['--input-spec', 'openapi.json', '--output', language];
  await run('.', join(python, 'bin/openapi-generator-cli'), [
    'generate',
    ...files,
    '-g',
    language,
    ...inGuide.split(' '),
    ...options,
  ]);
}

/** Compiles a program that uses a TypeScript client in strict mode, and bundles it for Node.js. */
async function compileTypeScript(folder: string, program: string): Promise<void> {
  cpSync(join(GENERATORS, 'programs', program), join(directory, folder, 'program.ts'));
  const options = ['--strict', '--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler', '--skipLibCheck'];
  const tsc = join(directory, 'node_modules/.bin/tsc');
  await run(folder, tsc, [...options, '--target', 'es2024', '--lib', 'es2024,dom,dom.iterable', 'program.ts']);
  const paths = { absWorkingDir: join(directory, folder), entryPoints: ['program.ts'], outfile: 'program.mjs' };
  await build({ ...paths, bundle: true, platform: 'node', format: 'esm' });
}

interface GeneratedClient {
  folder: string;
  generate(): Promise<void>;
  /** Runs the compiled program. */
  command: [string, ...string[]];
  /** Whether the machine has the compiler. */
  canRun?: boolean;
}

/** The newest version, which needs this version of Go. The guide names both. */
const OAPI_CODEGEN = 'v2.8.2';
const GO_FOR_OAPI_CODEGEN = 25;
const goVersion = Number(/go1\.(\d+)/.exec(String(spawnSync('go', ['version']).stdout))?.[1]);

const CLIENTS: Record<string, GeneratedClient> = {
  '@hey-api/openapi-ts': {
    folder: 'hey-api',
    async generate() {
      await run('.', 'node_modules/.bin/openapi-ts', ['-i', 'openapi.json', '-o', 'hey-api/client']);
      await compileTypeScript('hey-api', 'hey-api.ts');
    },
    command: [process.execPath, 'program.mjs'],
  },
  orval: {
    folder: 'orval',
    async generate() {
      const output = { target: 'orval/client.ts', client: 'fetch', baseUrl: service.stack.baseUrl };
      const config = { api: { input: 'openapi.json', output } };
      writeFileSync(join(directory, 'orval.config.mjs'), `export default ${JSON.stringify(config)}`);
      await run('.', 'node_modules/.bin/orval', ['--config', 'orval.config.mjs', '--fail-on-warnings']);
      await compileTypeScript('orval', 'orval.ts');
    },
    command: [process.execPath, 'program.mjs'],
  },
  'openapi-generator for Python': {
    folder: 'python',
    async generate() {
      await openApiGenerator('python', '--package-name', 'document_sync');
      cpSync(join(GENERATORS, 'programs/program.py'), join(directory, 'python/program.py'));
    },
    command: [join(python, 'bin/python'), 'program.py'],
  },
  'openapi-generator for Go': {
    folder: 'go',
    async generate() {
      await openApiGenerator('go', '--git-user-id', 'document-sync', '--git-repo-id', 'client');
      mkdirSync(join(directory, 'go/program'));
      cpSync(join(GENERATORS, 'programs/program.go'), join(directory, 'go/program/main.go'));
      await run('go', 'go', ['build', '-o', 'program/program', './program']);
    },
    command: ['./program/program'],
  },
  'openapi-generator for Java': {
    folder: 'java',
    async generate() {
      await openApiGenerator('java');
      const goals = ['package', 'dependency:copy-dependencies', '-DoutputDirectory=target', '-DincludeScope=runtime'];
      await run('java', 'mvn', ['-q', '-B', '-Dmaven.test.skip=true', '-Dmaven.javadoc.skip=true', ...goals]);
      await run('java', 'javac', ['-cp', 'target/*', '-d', 'program', join(GENERATORS, 'programs/Program.java')]);
    },
    command: ['java', '-cp', 'target/*:program', 'Program'],
    canRun: spawnSync('mvn', ['--version']).status === 0 && spawnSync('javac', ['-version']).status === 0,
  },
  'oapi-codegen': {
    folder: 'oapi-codegen',
    async generate() {
      mkdirSync(join(directory, 'oapi-codegen'));
      writeFileSync(join(directory, 'oapi-codegen/go.mod'), `module client\ngo 1.${GO_FOR_OAPI_CODEGEN}\n`);
      cpSync(join(GENERATORS, 'programs/oapi-codegen.go'), join(directory, 'oapi-codegen/main.go'));
      const generator = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`;
      const options = ['-generate', 'types,client', '-package', 'main', '-o', 'client.go', '../openapi.json'];
      await run('oapi-codegen', 'go', ['run', generator, ...options]);
      await run('oapi-codegen', 'go', ['mod', 'tidy']);
      await run('oapi-codegen', 'go', ['build', '-o', 'program', '.']);
    },
    command: ['./program'],
    canRun: goVersion >= GO_FOR_OAPI_CODEGEN,
  },
};

it('is tested with the versions that the guide names', () => {
  const guide = readFileSync('functions/site/docs/guides/index.md', 'utf8');
  const { devDependencies } = JSON.parse(readFileSync(join(GENERATORS, 'package.json'), 'utf8'));
  const [, pinned] =
    /^openapi-generator-cli==([\d.]+)/m.exec(readFileSync(join(GENERATORS, 'requirements.txt'), 'utf8')) ?? [];
  const versions = { '@hey-api/openapi-ts': devDependencies['@hey-api/openapi-ts'], orval: devDependencies.orval };
  for (const [name, version] of Object.entries({
    ...versions,
    'openapi-generator': pinned,
    'oapi-codegen': OAPI_CODEGEN.slice(1),
  }))
    expect(guide).toContain(`${name} ${version}`);
});

describe.each(Object.entries(CLIENTS).filter(([, { canRun = true }]) => canRun))('a client of %s', (_, {
  folder,
  generate,
  command: [command, ...args],
}) => {
  it('publishes and lists events of every type, pushes a document, and checks tokens', async () => {
    await generate(); // can take longer than a token is valid
    const { adminKey, admin } = await service.project();
    await publishAll(
      admin,
      EVENT_TYPES.map((type) => ({ type, data: sampleData(type, Date.now()) })),
    );
    const token = await mint(admin, ['org:acme:*'], ['read']);
    const env = { BASE_URL: service.stack.baseUrl, KEY: adminKey, TOKEN: token };
    const printed = JSON.parse(await run(folder, command, args, env));
    expect(printed).toEqual({
      published: expect.stringMatching(/^evt_/),
      pushed: [1],
      listed: expect.arrayContaining([printed.published]),
      types: [...EVENT_TYPES].sort(),
      fields: ['title'], // of the sample of document.changed
      active: [true, false],
    });
  });
});

it('gives a client few types', () => {
  const types =
    readFileSync(join(directory, 'hey-api/client/types.gen.ts'), 'utf8').match(/^export type (\w+)/gm) ?? [];
  const own = types.filter((type) => !/(Data|Error|Errors|Response|Responses)$/.test(type));
  expect(own.length, own.join()).toBeLessThanOrEqual(MAX_TYPES);
});
