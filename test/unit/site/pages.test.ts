import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { createSite as created } from '../../../functions/site/build.ts';
import { inline } from '../../../functions/site/docs/render/html.ts';
import { ADVICE } from '../../../lib/api/openapi/advice.ts';
import { apiOperations } from '../../../lib/api/operations.ts';
import { FAILURES } from '../../../lib/deliveries/failure-codes.ts';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { API_HEADERS, COMMON_HEADERS } from '../../../lib/http/headers.ts';
import { PROBLEMS, type ProblemCode } from '../../../lib/http/problems.ts';
import { createSite } from '../../../lib/http/static.ts';
import { ajv } from '../../support/openapi.ts';
import { HOSTILE_HOST } from '../http/builders.ts';

const site = created('');
const { pages } = site;
const BASE_URL = 'https://api.example.com/live';
const serve = createSite(site, { info() {} }, BASE_URL);

interface Named {
  name: string;
  description: string;
  in: string;
  required?: boolean;
}
interface Described {
  description?: string;
  content?: Record<string, { example?: unknown }>;
}

/** Matches the line for a member or a parameter as Markdown. */
const lineOf = (name: string, isRequired: boolean | undefined): RegExp =>
  new RegExp(`^ *- \`${name}\` (?${isRequired ? '!' : '='}[^:\\n]*, optional\\b)`, 'm');

/** The lines for all members in a schema, with those of other members. */
function membersIn(schema: unknown, named: Record<string, unknown> = {}): RegExp[] {
  const lines: RegExp[] = [];
  JSON.stringify(schema, function (this: { required?: string[] }, key, value) {
    if (key === 'properties')
      lines.push(...Object.keys(value).map((name) => lineOf(name, this.required?.includes(name))));
    if (key === 'example') return undefined;
    return value?.$ref ? named[value.$ref.split('/').at(-1)] : value;
  });
  return lines;
}

/** A request from API Gateway, by default below a stage. */
const request = (
  resource: string,
  { file = '', headers = {}, httpMethod = 'GET', slash = '', path = '', from = serve } = {},
) =>
  from({
    resource,
    httpMethod,
    headers,
    pathParameters: file ? { file } : null,
    requestContext: {
      requestId: 'request-1',
      requestTimeEpoch: Date.parse('2026-01-31T12:00:00Z'),
      path: path || `/live${resource.replace('{file}', file)}${slash}`,
    },
  } as unknown as APIGatewayProxyEvent);

describe('the dashboard', () => {
  it('has at most 70 KB in total, compressed', () => {
    const bytes = pages
      .filter(([path]) => path.startsWith('/dashboard'))
      .map(([, { text }]) => gzipSync(text).length)
      .reduce((sum, each) => sum + each);
    expect(bytes).toBeLessThan(70 * 1024);
    expect(bytes).toBeGreaterThan(10 * 1024);
  });

  it('has its own description for search engines, in whole sentences', () => {
    const all = pages
      .filter(([, { kind }]) => kind === 'page')
      .map(([path, { text }]) => {
        const [, description = ''] = /<meta name="description" content="([^"]*)">/.exec(text) ?? [];
        return { path, description };
      });
    expect(all.length).toBeGreaterThan(20);
    for (const { path, description } of all) {
      expect(description, path).toMatch(/^[A-Z].{35,199}\.$/);
      expect(description, path).not.toMatch(/[<>]|base_url|\s\s/);
    }
    expect(new Set(all.map(({ description }) => description)).size).toBe(all.length);
  });

  it('is revalidated every time, and its files have a content hash in their names and are cached', async () => {
    const page = await request('/dashboard');
    expect(page.headers).toMatchObject({ ...COMMON_HEADERS, 'X-Request-Id': 'request-1' });
    expect(page.headers).toMatchObject({ 'Cache-Control': 'no-store', 'Content-Type': 'text/html; charset=utf-8' });
    const isolated = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Resource-Policy': 'same-origin' };
    expect(page.headers).toMatchObject({ 'Referrer-Policy': 'no-referrer', ...isolated });
    const files = [...page.body.matchAll(/(?:src|href)="dashboard\/([^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toHaveLength(3);
    for (const file of files) {
      expect(file).toMatch(/-[0-9a-f]{12}\.(js|css|svg)$/);
      const { statusCode, headers } = await request('/dashboard/{file}', { file });
      expect(statusCode).toBe(200);
      expect(headers?.['Cache-Control']).toBe('public, max-age=31536000, immutable');
    }
  });
});

it('puts the content hash in the name of every file that is cached for a year', () => {
  const assets = pages.filter(([, { kind }]) => kind === 'asset');
  for (const folder of ['/dashboard/', '/docs/'])
    expect(assets.filter(([path]) => path.startsWith(folder)).length).toBeGreaterThan(2);
  for (const [path, { text }] of assets)
    expect(path).toContain(`-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.`);
});

it('logs the resource of a request, but not its path, which can contain a credential', async () => {
  const lines: object[] = [];
  const from = createSite(site, { info: (event, fields) => void lines.push({ event, ...fields }) }, BASE_URL);
  await request('/dashboard/{file}', { file: 'svc_live_1', from });
  const line = { event: 'page.served', resource: '/dashboard/{file}', request_id: 'request-1', status: 404 };
  expect(lines).toEqual([line]);
});

it('lets a page have its own title, fit a phone, load from its own origin and send to no other, and runs no inline code', async () => {
  const html = pages.filter(([, { type }]) => type.startsWith('text/html'));
  expect(html.length).toBeGreaterThan(15);
  expect(new Set(html.map(([, { text }]) => /<title>.+<\/title>/.exec(text)?.[0])).size).toBe(html.length);
  for (const [path, { text }] of html) {
    const { headers } = await request(path);
    const policy = String(headers?.['Content-Security-Policy']);
    expect(policy, path).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; /,
    );
    for (const directive of [
      ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
      ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
    ])
      expect(policy.split('; '), path).toContain(directive);
    expect(text, path).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(text, path).not.toMatch(/(src|<link[^>]* href)="(https?:)?\/\//);
    expect(text, path).not.toMatch(/<style|<script>|style="|\son\w+="/);
    expect(text.replace(/<(code|pre|script)\b[\s\S]*?<\/\1>/g, ''), `${path}: unrendered Markdown`).not.toContain('`');
  }
});

describe('a page', () => {
  it('returns a problem if it does not exist', async () => {
    for (const file of ['nothing.js', '../pages.json', '__proto__']) {
      const { statusCode, headers, body } = await request('/docs/{file}', { file });
      expect([statusCode, headers?.['Content-Type'], JSON.parse(body).code]).toEqual([
        404,
        'application/problem+json',
        'route_not_found',
      ]);
      expect(headers).toMatchObject(API_HEADERS);
    }
  });

  it.each([
    ['/live/', '/live/dashboard'],
    ['/live', '/live/dashboard'],
    ['/', '/dashboard'],
    ['/base/', '/base/dashboard'],
    ['//', '/dashboard'],
    ['//evil.example/', '/dashboard'],
  ])('at the root of the API redirects to the dashboard on the same host: %s', async (path, location) => {
    const { statusCode, headers } = await request('/', { path });
    expect([statusCode, headers]).toMatchObject([302, { Location: location, 'Cache-Control': 'no-store' }]);
  });

  it('has the configured base URL, whatever host its request names', async () => {
    const { body } = await request('/v1/openapi.json');
    expect(JSON.parse(body).servers).toEqual([{ url: BASE_URL }]);
    const paths = [...pages.map(([path]) => path), '/', '/.well-known/security.txt', '/docs/nothing', '/nothing'];
    for (const path of paths)
      for (const [httpMethod, slash] of [
        ['GET', ''],
        ['GET', '/'],
        ['POST', ''],
      ] as const) {
        const file = /^\/(?:docs|dashboard)\/(.+)$/.exec(path)?.[1] ?? '';
        const resource = file ? path.replace(file, '{file}') : path;
        const expected = await request(resource, { file, httpMethod, slash });
        expect(await request(resource, { file, httpMethod, slash, headers: HOSTILE_HOST }), path).toEqual(expected);
      }
  });

  it.each([
    ['/v1/openapi.json', '', 'application/json'],
    ['/llms.txt', '', 'text/plain; charset=utf-8'],
    ['/docs/{file}', 'keys.md', 'text/markdown; charset=utf-8'],
    ['/docs/{file}', 'changelog.atom', 'application/atom+xml; charset=utf-8'],
  ])('is readable for other origins and cacheable for some minutes if it is no page: %s %s', async (resource, file, type) => {
    const { headers } = await request(resource, { file });
    expect(headers).toMatchObject({
      ...API_HEADERS,
      'Content-Type': type,
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Cache-Control': 'public, max-age=300',
    });
  });
});

describe('the OpenAPI document', () => {
  it('has samples of each operation that print the response, and absolute links', async () => {
    const { body } = await request('/v1/openapi.json');
    const operations = Object.values(JSON.parse(body).paths as Record<string, object>).flatMap(Object.entries);
    expect(operations.length).toBe(apiOperations.length);
    for (const [method, { operationId, security, requestBody, responses, 'x-codeSamples': samples }] of operations) {
      const sources: string[] = samples.map(({ source }: { source: string }) => source);
      const [curl = '', javascript = '', python = ''] = sources;
      expect(samples.map(({ lang }: { lang: string }) => lang)).toEqual(['bash', 'javascript', 'python']);
      expect(curl, operationId).toMatch(/'https:\/\/api\.example\.com\/live\/v1\/[^{}]+'/);
      expect(python, operationId).toContain(`requests.${method}(`);
      const isGet = method === 'get';
      expect([/ -X (\w+)/.exec(curl)?.[1], / method: '(\w+)'/.exec(javascript)?.[1]], operationId).toEqual(
        Array(2).fill(isGet ? undefined : method.toUpperCase()),
      );
      const hasBody = [
        /-H 'Content-Type: application\/json' \\\n {2}-d /.test(curl),
        /headers: {.* 'Content-Type': 'application\/json' },\n {2}body: /.test(javascript),
        python.includes(' json='),
      ];
      expect(hasBody, operationId).toEqual(
        Array(3).fill(requestBody?.content['application/json'].example !== undefined),
      );
      const keys = ['"Authorization: Bearer $KEY"', '`Bearer ${process.env.KEY}`', 'f"Bearer {os.environ[\'KEY\']}"'];
      const hasKey = sources.map((source, i) => source.includes(keys[i] ?? ''));
      expect(hasKey, operationId).toEqual(sources.map(() => security.length > 0));
      // With a key in the sample, the programs of all readers would send the same one.
      expect(sources.join(), operationId).not.toMatch(/Idempotency-Key|"(?:secret|sync_id)"/);
      expect(python.replace(/"(?:[^"\\]|\\.)*"/g, ''), operationId).not.toMatch(/\b(?:true|false|null)\b/);
      const isPrinted = 'content' in (Object.values(responses)[0] as object);
      expect([javascript.includes('console.log('), python.includes('print(')]).toEqual([isPrinted, isPrinted]);
    }
    expect(JSON.parse(body).info.contact.url).toBe('https://api.example.com/live/docs/troubleshooting');
    expect(body).not.toMatch(/\[[\w ]+\]\((?!https:)|\{base_url\}/);
  });

  it('has the parameters, members, examples and responses of each operation in the reference', async () => {
    const { paths, components } = JSON.parse((await request('/v1/openapi.json')).body);
    for (const operation of Object.values(paths as Record<string, object>).flatMap(Object.values)) {
      const { summary, description, tags, parameters, requestBody, responses } = operation;
      const file = `api-${tags[0].toLowerCase().replaceAll(' ', '-')}.md`;
      const { body } = await request('/docs/{file}', { file });
      const [section = ''] = body.split(`\n## ${summary}\n`)[1]?.split('\n## ') ?? [];
      const [[status, success] = ['', {}], ...others] = Object.entries<Described>(responses);
      const { example = '' } = Object.values(success.content ?? {})[0] ?? {};
      const linked = '[`$1`](https://api.example.com/live/docs/errors.md#$1)';
      const expected = {
        Parameters: (parameters as Named[]).flatMap(({ name, in: place, required, description: meaning }) => [
          `- \`${name}\` ${place}, `,
          lineOf(name, required),
          meaning,
        ]),
        Body: [requestBody?.description ?? '', ...membersIn(requestBody?.content, components.schemas)],
        [`Response ${status}`]: [success.description ?? '', ...membersIn(success.content, components.schemas)],
        'Other responses': others.map(
          ([code, { description }]) => `- ${code} ${description?.replace(/`(\w+)`/g, linked)}\n`,
        ),
      };
      expect(section, summary).toContain(description);
      for (const [heading, texts] of Object.entries(expected)) {
        const [part = ''] = section.replace(/ +/g, ' ').split(`\n### ${heading}\n`)[1]?.split('\n### ') ?? [];
        for (const text of texts) expect(part, `${summary}: ${heading}`).toMatch(text);
      }
      expect(section, summary).toContain(example && `\n\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\`\n`);
    }
  });
});

describe('a page of the documentation', () => {
  it('is also served as Markdown with absolute links', async () => {
    const names = pages.flatMap(([path, { type }]) =>
      type.startsWith('text/html') && path.startsWith('/docs') ? [path.replace('/docs', '').slice(1) || 'index'] : [],
    );
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) {
      const { statusCode, headers, body } = await request('/docs/{file}', { file: `${name}.md` });
      expect([statusCode, headers?.['Content-Type']], name).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(body, name).toMatch(/^# \w/);
      expect(body, name).not.toMatch(
        /\]\((?!https:\/\/|mailto:|#)|<(?:div|p|span|svg|table|ul|section)\b|<!--|\{base_url\}/,
      );
      for (const [, linked = ''] of body.matchAll(/\(https:\/\/api\.example\.com\/live\/docs\/([\w-]+)\.md/g))
        expect([...names, 'index'], `${name}: ${linked}`).toContain(linked);
    }
  });

  it('links only to pages and anchors that exist, and has each anchor once', () => {
    const host = 'https://api.example.com';
    const base = `${host}/live`; // with a stage, so that an absolute path is a wrong link
    const html = pages.filter(([path, { type }]) => type.startsWith('text/html') && path.startsWith('/docs'));
    const anchors = html.flatMap(([path, { text }]) =>
      [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => `${base}${path}#${id}`),
    );
    const links = html.flatMap(([path, { text }]) =>
      [...text.matchAll(/ (?:href|data-search)="([^"]+)"/g)].map(
        ([, link = '']) => new URL(link.replace('{base_url}', base), base + path).href,
      ),
    );
    const ofDashboard = pages.flatMap(([, { text }]) =>
      [...text.matchAll(/\bhref:"(\/?docs[^"]*)"/g)].map(([, link = '']) => new URL(link, `${base}/dashboard`).href),
    );
    expect(ofDashboard.length).toBeGreaterThan(0);
    const own = [...links, ...ofDashboard].filter((link) => link.startsWith(host));
    expect(own.length).toBeGreaterThan(500);
    const targets = new Set([...pages.map(([path]) => base + path), ...anchors]);
    expect(own.filter((link) => !targets.has(link))).toEqual([]);
    expect(targets.size).toBe(pages.length + anchors.length);
  });

  it('keeps code, tables, drawings and nested members as Markdown', async () => {
    const markdown = async (file: string) => (await request('/docs/{file}', { file })).body;
    expect(await markdown('receiving.md')).toContain('```python\nimport hashlib, hmac\n');
    const delivery = await markdown('delivery.md');
    expect(delivery).toContain('| `pending` | no attempt of the run is recorded yet |\n');
    expect(delivery).toContain('Drawing: One transaction commits a change and its event.');
    const events = await markdown('events.md');
    expect(events).toContain('\n- `changes` list of object: One entry for every changed field.');
    expect(events).toContain('\n  - `field` string: The name of the field.\n');
    const keys = await markdown('keys.md');
    expect(keys).toContain('| `svc_read_` | live | only `/v1/documents`, `/v1/sync` |\n');
    expect(keys).toContain('| `svc_test_` | sandbox | everything except `/v1/keys`, `/v1/project`, `/v1/audit` |\n');
    const reference = await markdown('api-keys.md');
    expect(reference).toContain('```bash\ncurl');
    expect(reference).not.toContain('import os, requests');
  });

  it('names the language of each code block, and shows no two with the same tab', () => {
    const BLOCKS = /<div class="tabs">[\s\S]*?<\/div>|<figure[\s\S]*?<\/figure>/g;
    const groups = pages.flatMap(([, { text }]) => text.match(BLOCKS) ?? []);
    expect(groups.length).toBeGreaterThan(50);
    for (const group of groups) {
      const languages = [...group.matchAll(/<figure data-language="(.*?)">/g)].map(([, language]) => language);
      expect([languages.includes(''), new Set(languages).size], group).toEqual([false, languages.length]);
    }
  });

  it('lists each type of event with its meaning, its members and a sample', async () => {
    const { body } = await request('/docs/{file}', { file: 'events.md' });
    const { data } = JSON.parse((await request('/v1/event-types')).body);
    expect(data.map(({ name }: { name: string }) => name)).toEqual(EVENT_TYPES);
    for (const { name, meaning, schema, sample } of data) {
      expect(ajv.validate(schema, sample), JSON.stringify(ajv.errors)).toBe(true);
      expect(ajv.validate(schema, { ...sample, type: 'another' })).toBe(false);
      expect(ajv.validate(schema, { ...sample, data: {} })).toBe(false);
      const [section] = body.split(`\n## \`${name}\`\n`)[1]?.split('\n## ') ?? [];
      const members = membersIn(schema.properties.data);
      for (const text of [meaning, ...members, `\n\`\`\`json\n${JSON.stringify(sample, null, 2)}\n`])
        expect(section, name).toMatch(text);
    }
  });

  it('explains each error code at the anchor in its type, with its status and what to do', async () => {
    const { body } = await request('/docs/{file}', { file: 'errors' });
    for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
      const [section] = body.split(`<section id="${code}">`)[1]?.split('</section>') ?? [];
      for (const text of [
        `<code>${code}</code></a> <small>${status}</small>`,
        title,
        inline(ADVICE[code as ProblemCode]),
      ])
        expect(section, code).toContain(text);
    }
    for (const [code, meaning] of Object.entries(FAILURES))
      expect(body).toContain(`<dt id="${code}"><code>${code}</code></dt>\n<dd>${inline(meaning)}</dd>`);
  });

  it('is in the list for language models, and in the text of all pages', async () => {
    const list = await request('/llms.txt');
    expect(list.headers?.['Content-Type']).toBe('text/plain; charset=utf-8');
    expect(list.body).toMatch(/^# Document Sync Service\n\n> Document Sync Service is .+\n/);
    const links = [
      ...list.body.matchAll(/^- \[.+\]\(https:\/\/api\.example\.com\/live\/docs\/(.+\.md)\): (?!Drawing)[A-Z].+\.$/gm),
    ];
    const { body: all } = await request('/docs/{file}', { file: 'llms-full.txt' });
    expect(list.body).toContain('(https://api.example.com/live/docs/llms-full.txt)');
    expect(links).toHaveLength(pages.filter(([path]) => path.endsWith('.md')).length);
    for (const [, file = ''] of links) expect(all).toContain((await request('/docs/{file}', { file })).body);
  });

  it('lists the sections of the page, the operations of a page of the reference, and the pages beside it', async () => {
    const { body } = await request('/docs/{file}', { file: 'api-keys' });
    const [navigation = ''] = /<nav class="pages"[\s\S]*?<\/nav>/.exec(body) ?? [];
    expect(navigation).toContain('<li><a href="#rotateKey"><b class="post">POST</b> Rotate a key</a></li>');
    expect(body).not.toContain('<!--');
    const { body: guide } = await request('/docs/{file}', { file: 'receiving' });
    expect(guide).toMatch(/<nav class="contents"[\s\S]*<li><a href="#custom-headers">Custom headers<\/a><\/li>/);
    expect(guide).toContain('<a rel="prev" href="troubleshooting">Previous: Troubleshooting</a>');
    expect(guide).toContain('<a rel="next" href="receivers">Next: Example receivers</a>');
  });

  it('does not exist for a browser with a page that has the same policy', async () => {
    const headers = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const { statusCode, headers: sent, body } = await request('/docs/{file}', { file: 'nothing', headers });
    const { headers: ofPage } = await request('/docs');
    expect([statusCode, sent]).toEqual([404, ofPage]);
    expect(body).toContain('<h1>Page not found</h1>');
    expect(body).not.toContain('class="neighbors"');
    for (const [, name = ''] of body.matchAll(/<li><a href="([\w-]+)">/g))
      expect((await request('/docs/{file}', { file: name })).statusCode, name).toBe(200);
    const asset = await request('/dashboard/{file}', { file: 'nothing', headers });
    expect(asset.headers?.['Content-Type']).toContain('json');
  });
});

describe('a path that a release removed, but the stage still has', () => {
  it.each([
    ['GET', '/docs/errors', 200, undefined],
    ['POST', '/docs/errors', 405, 'GET, HEAD'],
    ['GET', '/v1/removed', 404, undefined],
  ])('returns the page of the path, if there is one: %s %s', async (httpMethod, resource, status, allowed) => {
    expect(site.methods).not.toHaveProperty([resource]);
    const { statusCode, headers } = await request(resource, { httpMethod });
    expect([statusCode, headers?.Allow]).toEqual([status, allowed]);
  });
});

describe('a trailing slash', () => {
  it.each([
    ['redirects to the path without it', 'receiving', 308, '/live/docs/receiving'],
    ['does not copy unusual characters into the address', 'a%0d%0ab', 404, undefined],
  ])('%s', async (_, file, status, location) => {
    const { statusCode, headers } = await request('/docs/{file}', { file, slash: '/' });
    expect([statusCode, headers?.Location, headers?.['Cache-Control']]).toEqual([status, location, 'no-store']);
  });
});

describe('security.txt', () => {
  it('contains the contact of the operator, if there is one, and expires in less than a year', async () => {
    expect((await request('/.well-known/security.txt')).statusCode).toBe(404);
    const from = createSite(created('mailto:security@example.com'), { info() {} }, BASE_URL);
    const { statusCode, headers, body } = await request('/.well-known/security.txt', { from });
    expect([statusCode, headers?.['Content-Type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(body).toBe(`Contact: mailto:security@example.com
Expires: 2026-07-30T12:00:00.000Z
Preferred-Languages: en
Canonical: https://api.example.com/live/.well-known/security.txt
`);
  });
});

describe('a method that a path does not have', () => {
  it.each([
    ['DELETE', '/v1/webhooks', 'POST, GET, HEAD'],
    ['HEAD', '/v1/events/batch', 'POST'],
    ['POST', '/v1/documents/{key}', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['POST', '/docs/{file}', 'GET, HEAD'],
  ])('is rejected: %s %s', async (httpMethod, resource, allowed) => {
    const { statusCode, headers, body } = await request(resource, { httpMethod });
    expect([statusCode, headers?.Allow, JSON.parse(body).code]).toEqual([405, allowed, 'method_not_allowed']);
    const isReadable = allowed.includes('OPTIONS');
    expect(headers?.['Access-Control-Allow-Origin']).toBe(isReadable ? '*' : undefined);
  });
});
