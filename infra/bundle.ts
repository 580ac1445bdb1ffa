import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build, buildSync, type OutputFile } from 'esbuild';
import { projectRoot } from './project-root.ts';

/**
 * How a function becomes one minified module with everything in it, the SDK too. It is CommonJS, dynamic imports too: whoever
 * imports `node:http` evaluates all of its exports, `WebSocket` and with it undici among them, and starts a quarter later; the
 * SDK does so in its first request.
 */
export const bundleOptions = {
  bundle: true,
  minify: true,
  format: 'cjs',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  supported: { 'dynamic-import': false },
  define: { 'import.meta.dirname': '__dirname' },
  absWorkingDir: projectRoot,
} as const satisfies BuildOptions;

/** Writes `index.cjs` into `assetDirectory` and its source map beside the assets, where it costs no start-up time. */
export function bundleFunction(entry: string, assetDirectory: string, mapDirectory: string): void {
  bundles ??= buildSync(options()).outputFiles;
  for (const directory of [assetDirectory, mapDirectory]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(assetDirectory, 'index.cjs'), contentsOf(bundles, `${entry}.cjs`));
  writeFileSync(join(mapDirectory, `${entry}.cjs.map`), contentsOf(bundles, `${entry}.cjs.map`));
}

let bundles: readonly OutputFile[] | undefined;

/** Bundles beside what the process does meanwhile, such as loading the CDK. */
export async function bundleAhead(): Promise<void> {
  bundles = (await build(options())).outputFiles;
}

/** All functions in one pass: what they share, which is most, is read and parsed once. The bundles are those of single passes. */
function options() {
  const files = readdirSync(join(projectRoot, 'functions')).filter((name) => name.endsWith('.ts') && !SHARED.has(name));
  const entries = files.map((file) => basename(file, '.ts'));
  return {
    ...bundleOptions,
    entryPoints: Object.fromEntries(entries.map((entry) => [entry, join('functions', `${entry}.ts`)])),
    outdir: '.',
    outExtension: { '.js': '.cjs' },
    sourcemap: 'external',
    write: false,
  } as const satisfies BuildOptions;
}

/** Files of functions/ that the entries share. */
const SHARED = new Set(['platform.ts', 'wiring.ts']);

function contentsOf(files: readonly OutputFile[], name: string): Uint8Array {
  const found = files.find(({ path }) => basename(path) === name);
  if (!found) throw new Error(`There is no function ${name}`);
  return found.contents;
}
