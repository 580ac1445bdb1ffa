import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, extname, join, posix } from 'node:path';
import { buildSync } from 'esbuild';
import { projectRoot } from '../../infra/project-root.ts';
import { eventTypes } from '../../lib/api/openapi/openapi-events.ts';
import { allowedMethods } from '../../lib/api/operations.ts';
import type { Page, Site } from '../../lib/http/static.ts';
import { changelogFeed, FEED_PATH } from './docs/render/changelog.ts';
import { pathOf } from './docs/render/chapter.ts';
import { descriptionOf } from './docs/render/description.ts';
import { chapters } from './docs/render/docs.ts';
import { type Article, verification } from './docs/render/guides.ts';
import { bodyOf } from './docs/render/layout.ts';
import { markdownFiles } from './docs/render/markdown.ts';
import { missingPage } from './docs/render/missing-page.ts';
import { documentWithSamples } from './docs/render/reference.ts';
import { searchIndex } from './docs/render/search-index.ts';

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.atom': 'application/atom+xml; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

type PageList = Site['pages'];

/** Writes `site.json` for functions/dashboard.ts: the dashboard, the documentation and the OpenAPI document. */
export function writeSite(directory: string, securityContact: string): void {
  writeFileSync(join(directory, 'site.json'), JSON.stringify(createSite(securityContact)));
}

export function createSite(securityContact: string): Site {
  const docs = documentation();
  const json = (value: object): Page => ({ type: TYPES['.json'] ?? '', kind: 'document', text: JSON.stringify(value) });
  return {
    pages: [
      ...dashboard(),
      ...docs.pages,
      ['/v1/openapi.json', json(documentWithSamples())],
      ['/v1/event-types', json(eventTypes())],
    ],
    missingPage: docs.missingPage,
    securityContact,
    methods: allowedMethods,
  };
}

function dashboard(): PageList {
  const files = [...bundleBrowser('dashboard', 'functions/site/dashboard/main.tsx'), icon('dashboard')];
  const description = 'Keys, webhooks, events and documents of a project of the Document Sync Service.';
  return [page('/dashboard', { title: 'Dashboard', description, body: '<div id="app"></div>' }, files), ...files];
}

/** Creates the pages of the documentation, their files, and the same pages as Markdown. */
function documentation(): Pick<Site, 'pages' | 'missingPage'> {
  const files = [...bundleBrowser('docs', 'functions/site/docs/browser/main.ts'), icon('docs')];
  const all = chapters();
  const index = asset('docs', 'search.json', JSON.stringify(searchIndex(all)));
  const pageOf = (article: Article) =>
    page(
      pathOf(article),
      {
        title: `${article.title} · Docs`,
        description: descriptionOf(article),
        body: bodyOf(article, all, index[0]),
      },
      files,
    );
  const pages = all.flatMap(({ articles }) => articles).map(pageOf);
  const texts = [...markdownFiles(all), [FEED_PATH, changelogFeed()] as const].map(([path, text]): [string, Page] => [
    path,
    { type: TYPES[extname(path)] ?? '', kind: 'document', text },
  ]);
  return { pages: [...pages, ...texts, index, ...files], missingPage: pageOf(missingPage)[1] };
}

const icon = (folder: string) =>
  asset(folder, 'icon.svg', readFileSync(join(projectRoot, 'functions/site/icon.svg'), 'utf8'));

/** Bundles and minifies a browser program with its styles. The file names contain a hash of the content. */
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
    define: { VERIFICATION: JSON.stringify(verification()) },
    absWorkingDir: projectRoot,
  });
  return built.outputFiles.map(({ path, text }) => asset(folder, basename(path), text));
}

function asset(folder: string, name: string, text: string): [string, Page] {
  const extension = extname(name);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const type = TYPES[extension];
  if (!type) throw new Error(`Unknown content type of ${name}`);
  return [`/${folder}/${basename(name, extension)}-${hash}${extension}`, { type, kind: 'asset', text }];
}

/** The parts of a page, as HTML. */
interface Content {
  title: string;
  description: string;
  body: string;
}

/** Creates a page. Links to its files are relative, so that it works below any stage. */
function page(path: string, { title, description, body }: Content, files: PageList): [string, Page] {
  const tags = files.map(([file]) => {
    const href = posix.relative(posix.dirname(path), file);
    if (file.endsWith('.css')) return `<link rel="stylesheet" href="${href}">`;
    if (file.endsWith('.svg')) return `<link rel="icon" href="${href}">`;
    return `<script type="module" src="${href}"></script>`;
  });
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<title>${title}</title>
${tags.join('\n')}
</head>
<body>
${body}
</body>
</html>
`;
  return [path, { type: 'text/html; charset=utf-8', kind: 'page', text }];
}
