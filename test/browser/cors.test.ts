import http from 'node:http';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { mint, put } from '../support/documents.ts';
import { listen } from '../support/endpoints.ts';
import { useService } from '../support/service.ts';
import { startBrowser } from './browser.ts';

const service = useService();
let page: Page;

/** A frontend of a customer, which is a page of another origin. */
beforeAll(async () => {
  const frontend = http.createServer((_request, response) => response.end('<!doctype html><title>Frontend</title>'));
  const browser = await startBrowser();
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${await listen(frontend)}/`);
  afterFile(() => page.close());
});

/** Returns the status, ETag and error code that the page can read, or `blocked` if the browser hides the response. */
const fetched = (credential: string, method: string, path: string, body?: object, added: Record<string, string> = {}) =>
  page.evaluate(
    async ([url, verb, token, text, more]) => {
      const own = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'X-Node-Id': 'frontend' };
      const headers = { ...own, ...more };
      const init = { method: verb, headers, ...(text && { body: text }) };
      const response = await fetch(url, init).catch(() => null);
      if (!response) return 'blocked';
      const { status } = response;
      return { status, etag: response.headers.get('etag'), code: (await response.json().catch(() => ({}))).code };
    },
    [service.stack.baseUrl + path, method, credential, body ? JSON.stringify(body) : '', added] as const,
  );

describe('a frontend of another origin', () => {
  it('reads, writes and syncs documents with a scoped token, and can read problems', async () => {
    const project = await service.project();
    const live = await project.client('live');
    await put(live, 'org:acme:doc-1', { title: 'Draft' });
    const token = await mint(live, ['org:acme:*'], ['read', 'write']);
    expect(await fetched(token, 'GET', '/v1/documents/org:acme:doc-1')).toMatchObject({ status: 200, etag: '"1"' });
    const fields = { title: 'Final' };
    expect(await fetched(token, 'PUT', '/v1/documents/org:acme:doc-1', { fields })).toMatchObject({ etag: '"2"' });
    const cycle = { node_id: 'frontend', pattern: 'org:acme:*', push: [], known: {} };
    expect(await fetched(token, 'POST', '/v1/sync', cycle)).toMatchObject({ status: 200 });
    expect(await fetched(token, 'PUT', '/v1/connections/c1', { node_id: 'frontend' })).toMatchObject({ status: 200 });
    expect(await fetched(token, 'GET', '/v1/documents/org:other:doc')).toMatchObject({ code: 'document_not_allowed' });
    expect(await fetched('nonsense', 'GET', '/v1/documents')).toMatchObject({ status: 401, code: 'unauthorized' });
    const key = await project.key('read');
    expect(await fetched(key, 'DELETE', '/v1/documents/a')).toMatchObject({ code: 'insufficient_permissions' });
  });

  it('can send the headers of tracing libraries, and those of conditional and repeated requests', async () => {
    const live = await (await service.project()).client('live');
    const token = await mint(live, ['org:acme:*'], ['read', 'write']);
    const tracing = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'sentry-trace': '1-2-1' };
    const own = { 'Idempotency-Key': 'once', 'If-None-Match': '*' };
    const headers = { ...tracing, ...own, baggage: 'a=b', 'X-Requested-With': 'XMLHttpRequest' };
    const body = { fields: { title: 'Draft' } };
    expect(await fetched(token, 'PUT', '/v1/documents/org:acme:doc-2', body, headers)).toMatchObject({ status: 201 });
  });

  it('cannot manage keys or webhooks', async () => {
    const { adminKey } = await service.project();
    expect(await fetched(adminKey, 'GET', '/v1/keys')).toBe('blocked');
    expect(await fetched(adminKey, 'POST', '/v1/webhooks', {})).toBe('blocked');
  });
});
