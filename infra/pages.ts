import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { openApiDocument } from '../lib/openapi/document.ts';
import { BASE_URL, type Page } from '../lib/pages.ts';
import { projectRoot } from './bundle.ts';
import { errorsBody } from './errors-page.ts';

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

// Everything comes from this origin, and nothing of it is written into a page (CSP Level 3).
const STRICT = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};
const policyOf = (directives: Record<string, string>): string =>
  Object.entries(directives)
    .map((directive) => directive.join(' '))
    .join('; ');

export type PageList = [path: string, page: Page][];

/** Writes `pages.json` for functions/dashboard/server.ts: the dashboard, the reference and the OpenAPI document. */
export function writePages(directory: string): void {
  writeFileSync(join(directory, 'pages.json'), JSON.stringify(createPages()));
}

/** Every page and asset by its path. */
export function createPages(): PageList {
  const document = JSON.stringify(openApiDocument(BASE_URL));
  const openApi: Page = { type: 'application/json', kind: 'page', text: document };
  return [...dashboard(), ...reference(), ['/v1/openapi.json', openApi]];
}

function dashboard(): PageList {
  const files = bundleBrowser('dashboard', 'functions/dashboard/app/main.tsx');
  const icon = asset(
    'dashboard',
    'icon.svg',
    readFileSync(join(projectRoot, 'functions/dashboard/app/icon.svg'), 'utf8'),
  );
  const text = html('Dashboard', [...files, icon], '<div id="app"></div>');
  // Trusted Types: no string becomes markup, whatever a payload holds.
  const policy = policyOf({ ...STRICT, 'require-trusted-types-for': "'script'", 'trusted-types': "'none'" });
  return [['/dashboard', { type: 'text/html; charset=utf-8', kind: 'page', policy, text }], ...files, icon];
}

function reference(): PageList {
  const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const renderer = ['swagger-ui-bundle.js', 'swagger-ui.css'].map((name) =>
    asset('docs', name, readFileSync(join(swagger, name), 'utf8')),
  );
  // Named by a comment in the bundle, which has the notices of what it holds taken out.
  const notices = 'swagger-ui-bundle.js.LICENSE.txt';
  const licenses: Page = {
    type: 'text/plain; charset=utf-8',
    kind: 'page',
    text: readFileSync(join(swagger, notices), 'utf8'),
  };
  const own = bundleBrowser('docs', 'functions/dashboard/reference/main.ts');
  const icon = asset('docs', 'icon.svg', readFileSync(join(projectRoot, 'functions/dashboard/app/icon.svg'), 'utf8'));
  const type = 'text/html; charset=utf-8';
  // The renderer's style sheet has its icons in it.
  const policy = policyOf({ ...STRICT, 'img-src': "'self' data:" });
  const styles = own.filter(([path]) => path.endsWith('.css'));
  const body = '<div id="reference"></div>';
  return [
    ['/docs', { type, kind: 'page', policy, text: html('API reference', [...renderer, ...own, icon], body) }],
    [
      '/docs/errors',
      { type, kind: 'page', policy: policyOf(STRICT), text: html('Errors', [...styles, icon], errorsBody(), '') },
    ],
    ...renderer,
    [`/docs/${notices}`, licenses],
    ...own,
    icon,
  ];
}

/** One browser program with its styles, minified, its files named by their content. */
function bundleBrowser(folder: string, entryPoint: string): PageList {
  const built = buildSync({
    entryPoints: { app: join(projectRoot, entryPoint) },
    bundle: true,
    minify: true,
    write: false,
    outdir: 'out',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    absWorkingDir: projectRoot,
  });
  return built.outputFiles.map(({ path, text }) => asset(folder, basename(path), text));
}

function asset(folder: string, name: string, text: string): [string, Page] {
  const extension = extname(name);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const type = TYPES[extension];
  if (!type) throw new Error(`No content type is known for ${name}`);
  return [`/${folder}/${basename(name, extension)}-${hash}${extension}`, { type, kind: 'asset', text }];
}

/** A page around `body`. Paths are relative to the page, so that it works below any stage. */
function html(title: string, files: PageList, body: string, folder?: string): string {
  const hrefOf = (path: string) => (folder === undefined ? path.slice(1) : `${folder}${path.split('/').at(-1)}`);
  const tags = files.map(([path]) => {
    if (path.endsWith('.css')) return `<link rel="stylesheet" href="${hrefOf(path)}">`;
    if (path.endsWith('.svg')) return `<link rel="icon" href="${hrefOf(path)}">`;
    return `<script ${path.includes('swagger') ? 'defer' : 'type="module"'} src="${hrefOf(path)}"></script>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${tags.join('\n')}
</head>
<body>
${body}
</body>
</html>
`;
}
