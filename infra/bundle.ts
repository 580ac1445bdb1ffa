import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BuildOptions, build, buildSync, type OutputFile } from 'esbuild';
import { projectRoot } from './project-root.ts';

/**
 * Bundles a function into one minified module that includes the SDK. The module is CommonJS, including dynamic imports. An ESM
 * import of `node:http` evaluates all of its exports, including `WebSocket` and undici, which makes the start a quarter slower.
 * The SDK does this in its first request.
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

/**
 * Writes `index.cjs` into `assetDirectory`. The source map is stored next to the assets, so that it does not slow down the start.
 */
export function bundleFunction(entry: string, assetDirectory: string, mapDirectory: string): void {
  bundles ??= buildSync(options()).outputFiles;
  for (const directory of [assetDirectory, mapDirectory]) mkdirSync(directory, { recursive: true });
  writeFileSync(join(assetDirectory, 'index.cjs'), contentsOf(bundles, `${entry}.cjs`));
  writeFileSync(join(mapDirectory, `${entry}.cjs.map`), contentsOf(bundles, `${entry}.cjs.map`));
}

let bundles: readonly OutputFile[] | undefined;

/** Bundles the functions while the process does other work, such as loading the CDK. */
export async function bundleAhead(): Promise<void> {
  bundles = (await build(options())).outputFiles;
}

/**
 * Bundles all functions in one pass, so that esbuild reads shared files only once. The result is the same as in separate passes.
 */
function options() {
  return {
    ...bundleOptions,
    entryPoints: ['functions/*.ts'],
    outdir: '.',
    outExtension: { '.js': '.cjs' },
    sourcemap: 'external',
    write: false,
  } as const satisfies BuildOptions;
}

function contentsOf(files: readonly OutputFile[], name: string): Uint8Array {
  const file = files.find(({ path }) => basename(path) === name);
  if (!file) throw new Error(`Unknown function ${name}`);
  return file.contents;
}
