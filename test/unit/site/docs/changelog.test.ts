import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changelog, changelogFeed } from '../../../../functions/site/docs/render/changelog.ts';
import { openApiDocument } from '../../../../lib/api/openapi/openapi-document.ts';
import { VERSION } from '../../../../lib/version.ts';

const text = readFileSync('CHANGELOG.md', 'utf8');
const released = [...text.matchAll(/^## \[(\d.*?)\] - (.*)$/gm)];
const [, unreleased = ''] = text.split(/^## .*$/m);

describe('the version', () => {
  it('is the one of the package and the OpenAPI document', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const { version: locked, packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    const all = [version, locked, packages[''].version, openApiDocument('').info.version];
    expect(new Set(all)).toEqual(new Set([VERSION]));
  });

  it('is the newest release, or a higher one with -dev, as long as there are unreleased changes', () => {
    const newest = released[0]?.[1] ?? '';
    const [next = '', suffix] = VERSION.split('-');
    if (suffix === undefined) expect([next, unreleased.trim()]).toEqual([newest, '']);
    else expect([suffix, next.localeCompare(newest, 'en', { numeric: true })]).toEqual(['dev', 1]);
  });
});

describe('the changelog', () => {
  const { html } = changelog();
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

  it('has a section for each release, each with its own anchor', () => {
    expect(ids).toHaveLength(released.length + 1);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has a feed with an entry for each release that links to its section', () => {
    const feed = changelogFeed();
    const entries = feed.split('<entry>').slice(1);
    expect(entries).toHaveLength(released.length);
    for (const [i, [, version, date]] of released.entries()) {
      const entry = entries[i] ?? '';
      expect(entry).toContain(`<title>Document Sync Service ${version}</title>`);
      expect(entry).toContain(`<updated>${date}T00:00:00Z</updated>`);
      const [, id = '', link] = /<id>(.*)<\/id>[\s\S]*<link href="(.*)"\/>/.exec(entry) ?? [];
      expect(id).toBe(link);
      expect(ids).toContain(id.split('#')[1]);
      expect(/<content type="html">([\s\S]*)<\/content>/.exec(entry)?.[1]).toMatch(/^&lt;p>[^<]+$/);
    }
    execFileSync('python3', ['-c', 'import sys, xml.etree.ElementTree as xml; xml.parse(sys.stdin)'], { input: feed });
  });
});
