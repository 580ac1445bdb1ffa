import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { openApiDocument } from '../../../lib/api/openapi/openapi-document.ts';
import { bundleOptions } from '../../bundle.ts';
import { localDirectory, projectRoot } from '../../project-root.ts';

/*
 * npx node infra/commands/package/build.ts [DIRECTORY] builds the npm package for integrators in .local/package or another directory,
 * which it empties, and prints the path of its tarball, which each release contains. The generator of types requires an older
 * TypeScript, so it has its own package.json.
 */

const directory = resolve(process.argv[2] ?? join(localDirectory, 'package'));
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: directory, encoding: 'utf8' });

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
cpSync(join(projectRoot, 'lib/client'), directory, { recursive: true });
cpSync(join(projectRoot, 'LICENSE'), join(directory, 'LICENSE'));
for (const name of ['package.json', 'package-lock.json'])
  cpSync(join(import.meta.dirname, name), join(directory, name));
run('npm', 'ci', '--no-audit', '--no-fund', '--silent');

const bin = (name: string): string => join(directory, 'node_modules/.bin', name);
writeFileSync(join(directory, 'openapi.json'), JSON.stringify(openApiDocument('https://api.example.com')));
run(bin('openapi-typescript'), 'openapi.json', '--output', 'dist/api.d.ts');
cpSync(join(directory, 'dist/api.d.ts'), join(directory, 'api.d.ts'));
writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest(), null, 2));
run(bin('tsc'));
buildSync({
  ...bundleOptions,
  format: 'esm',
  target: `node${read('package.json').engines.node.replace('>=', '')}`, // the commands need no newer Node.js than a checkout
  entryPoints: { cli: 'infra/commands/package/cli.ts' },
  outdir: join(directory, 'dist'),
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  define: { 'import.meta.main': 'false' },
});
chmodSync(join(directory, 'dist/cli.js'), 0o755);
console.log(join(directory, run('npm', 'pack', '--silent').trim()));

function manifest(): object {
  const { version, license } = read('package.json');
  const { 'openapi-fetch': openApiFetch } = read('infra/commands/package/package.json').devDependencies;
  return {
    name: '@document-sync-service/client',
    version,
    private: true, // nobody can publish it to a registry, where this project owns no name
    description: 'Typed client, webhook verification and command-line tools of the Document Sync Service',
    license,
    engines: { node: '>=22.13' }, // SQLite and Ed25519 without a flag
    type: 'module',
    sideEffects: false,
    exports: {
      '.': module('index'),
      './engine': module('engine/engine'),
      './hocuspocus': module('adapters/hocuspocus'),
      './automerge': module('adapters/automerge'),
    },
    bin: { 'document-sync': 'dist/cli.js' },
    files: ['dist'],
    dependencies: { 'openapi-fetch': openApiFetch },
    // The versions that the tests of the adapters install.
    peerDependencies: { '@automerge/automerge-repo': '^2.5.0', '@hocuspocus/server': '^4.0.0' },
    peerDependenciesMeta: {
      '@automerge/automerge-repo': { optional: true },
      '@hocuspocus/server': { optional: true },
    },
  };
}

function module(name: string): object {
  return { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` };
}

function read(file: string) {
  return JSON.parse(readFileSync(join(projectRoot, file), 'utf8'));
}
