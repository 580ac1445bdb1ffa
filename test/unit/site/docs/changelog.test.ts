import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changelog, changelogFeed } from '../../../../functions/site/docs/render/changelog.ts';
import { openApiDocument } from '../../../../lib/openapi/document.ts';
import { VERSION } from '../../../../lib/version.ts';

const released = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## \[(\d.*?)\] - (.*)$/gm)];

describe('the version', () => {
  it('is the one of the package, the newest release and the OpenAPI document', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    const all = [version, lock.version, released[0]?.[1], openApiDocument('').info.version];
    expect(new Set(all)).toEqual(new Set([VERSION]));
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
      expect(ids).toContain(/<link href="[^"]*#([^"]+)"\/>/.exec(entry)?.[1]);
      expect(/<content type="html">([\s\S]*)<\/content>/.exec(entry)?.[1]).toMatch(/^&lt;p>[^<]+$/);
    }
    execFileSync('python3', ['-c', 'import sys, xml.etree.ElementTree as xml; xml.parse(sys.stdin)'], { input: feed });
  });
});
