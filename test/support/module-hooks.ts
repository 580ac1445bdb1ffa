import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { transformSync } from 'esbuild';

/*
 * Node.js loads the modules of the tests itself, which is faster than Vite. These hooks add what it lacks: JSX, and modules that are
 * loaded again, with other environment variables.
 */
registerHooks({
  /** A module with the query `?again=…` loads the modules of this project that it imports with the same query. */
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const [, query] = context.parentURL?.split('?') ?? [];
    const isOwn = resolved.url.startsWith('file:') && !resolved.url.includes('/node_modules/');
    return query?.startsWith('again=') && isOwn ? { ...resolved, url: `${resolved.url}?${query}` } : resolved;
  },
  load(url, context, nextLoad) {
    if (!url.endsWith('.tsx')) return nextLoad(url, context);
    const text = readFileSync(new URL(url), 'utf8');
    const { code } = transformSync(text, { loader: 'tsx', jsx: 'automatic', jsxImportSource: 'preact' });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
