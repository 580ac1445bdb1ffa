import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';

export const projectRoot = fileURLToPath(new URL('..', import.meta.url));

/** Some dependencies are CommonJS: bundled into a module they need a `require`. */
const REQUIRE = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/** How a function becomes one minified ES module with everything in it, the SDK too. */
export const bundleOptions = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  banner: { js: REQUIRE },
  absWorkingDir: projectRoot,
} as const satisfies BuildOptions;

/** Writes `index.mjs` into `assetDirectory` and its source map beside the assets, where it costs no start-up time. */
export function bundleFunction(entry: string, assetDirectory: string, mapDirectory: string): void {
  const built = buildSync({
    ...bundleOptions,
    entryPoints: [join('functions', `${entry}.ts`)],
    outfile: 'index.mjs',
    sourcemap: 'external',
    write: false,
  });
  mkdirSync(mapDirectory, { recursive: true });
  for (const { path, contents } of built.outputFiles) {
    writeFileSync(
      path.endsWith('.map')
        ? join(mapDirectory, `${entry.replace('/', '-')}.mjs.map`)
        : join(assetDirectory, 'index.mjs'),
      contents,
    );
  }
}
