import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { createSite as created } from '../../functions/site/build.ts';
import { createSite } from '../../lib/http/static.ts';

const site = created();
const { pages } = site;
const serve = createSite(site, { info() {} });

/** A request from API Gateway, below a stage or with a custom domain. */
const request = (resource: string, { file = '', base = '/live', headers = {}, httpMethod = 'GET' } = {}) =>
  serve({
    resource,
    httpMethod,
    headers: { Host: 'api.example.com', 'X-Forwarded-Proto': 'https', ...headers },
    pathParameters: file ? { file } : null,
    requestContext: {
      requestId: 'request-1',
      path: base + resource.replace('{file}', file),
    },
  } as unknown as APIGatewayProxyEvent);

describe('the dashboard', () => {
  it('has at most 60 KB in total, compressed', () => {
    const bytes = pages
      .filter(([path]) => path.startsWith('/dashboard'))
      .map(([, { text }]) => gzipSync(text).length)
      .reduce((sum, each) => sum + each);
    expect(bytes).toBeLessThan(60 * 1024);
    expect(bytes).toBeGreaterThan(10 * 1024);
  });

  it('is revalidated every time, and its files have a content hash in their names and are cached', async () => {
    const page = await request('/dashboard');
    expect(page.headers).toMatchObject({ 'Cache-Control': 'no-store', 'Content-Type': 'text/html; charset=utf-8' });
    const files = [...page.body.matchAll(/(?:src|href)="dashboard\/([^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toHaveLength(3);
    for (const file of files) {
      expect(file).toMatch(/-[0-9a-f]{12}\.(js|css|svg)$/);
      const { statusCode, headers } = await request('/dashboard/{file}', { file });
      expect(statusCode).toBe(200);
      expect(headers?.['Cache-Control']).toBe('public, max-age=31536000, immutable');
    }
  });

  it('contains no other origin, and no inline script or style', () => {
    for (const [path, { type, text }] of pages) {
      if (!type.startsWith('text/html')) continue;
      expect(text, path).not.toMatch(/(src|<link[^>]* href)="(https?:)?\/\//);
      expect(text, path).not.toMatch(/<style|<script>|style="|\son\w+="/);
    }
  });
});

describe('the Content-Security-Policy', () => {
  it('lets a page load from its own origin and send to no other', () => {
    const policies = pages.flatMap(([path, { type, policy }]) =>
      type.startsWith('text/html') ? [[path, policy]] : [],
    );
    expect(policies.length).toBeGreaterThan(5);
    for (const [path, policy] of policies) {
      expect(policy?.split('; '), path).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]);
    }
  });
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
    }
  });

  it.each([
    ['/live', 'https://api.example.com/live'],
    ['', 'https://api.example.com'],
    ['/base', 'https://api.example.com/base'],
  ])('below "%s" says that the API is there', async (base, url) => {
    const { body } = await request('/v1/openapi.json', { base });
    expect(JSON.parse(body).servers).toEqual([{ url }]);
    const { statusCode, headers } = await request('/', { base });
    expect([statusCode, headers?.Location]).toEqual([302, `${url}/dashboard`]);
  });

  it('is readable for other origins and cacheable for some minutes if it describes the API', async () => {
    const { headers } = await request('/v1/openapi.json');
    expect(headers).toMatchObject({
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Cache-Control': 'public, max-age=300',
    });
  });
});

describe('a method that a path does not have', () => {
  it.each([
    ['DELETE', '/v1/webhooks', 'POST, GET, HEAD'],
    ['HEAD', '/v1/events/batch', 'POST'],
    ['POST', '/v1/documents/{key}', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['PUT', '/', 'GET, HEAD'],
    ['POST', '/docs/{file}', 'GET, HEAD'],
  ])('is rejected: %s %s', async (httpMethod, resource, allowed) => {
    const { statusCode, headers, body } = await request(resource, { httpMethod });
    expect([statusCode, headers?.Allow, JSON.parse(body).code]).toEqual([405, allowed, 'method_not_allowed']);
  });
});
