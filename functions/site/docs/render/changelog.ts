import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../../infra/project-root.ts';
import { BASE_URL } from '../../../../lib/http/static.ts';
import { type Article, render } from './guides.ts';
import { anchorOf, escaped } from './html.ts';

const PATH = '/docs/changelog';
export const FEED_PATH = `${PATH}.atom`;

interface Release {
  /** `Unreleased`, or a version. */
  title: string;
  /** Empty for changes that are not released yet. */
  date: string;
  markdown: string;
}

/** Returns the releases of the changelog, newest first (keepachangelog.com). */
function releases(): Release[] {
  const [, ...sections] = readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8').split(/\n(?=## )/);
  return sections.map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    const [, title = '', date = ''] = /^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$/.exec(heading) ?? [];
    if (title === '' || (date === '') !== (title === 'Unreleased'))
      throw new Error(`Release without a date: ${heading}`);
    // Headings such as "Added" are in every release, so they have no anchors.
    return {
      title,
      date,
      markdown: lines
        .join('\n')
        .trim()
        .replace(/^### (.*)$/gm, '**$1**'),
    };
  });
}

/** `/docs/changelog`. */
export function changelog(): Article {
  const sections = releases().map(
    ({ title, date, markdown }) => `## ${title}${date && ` (${date})`}\n\n${markdown || 'No changes yet.'}`,
  );
  const introduction = `All notable changes of the service. New releases are also in an [Atom feed](${BASE_URL}${FEED_PATH}).`;
  const html = render(
    `# Changelog\n\n<!-- search: release notes, version, new features, atom, rss -->\n\n${introduction}\n\n${sections.join('\n\n')}`,
  );
  return { name: 'changelog', title: 'Changelog', html };
}

/** The releases as an Atom feed (RFC 4287). */
export function changelogFeed(): string {
  const released = releases().filter(({ date }) => date !== '');
  const entries = released.map(({ title, date, markdown }) => {
    const url = `${BASE_URL}${PATH}#${anchorOf(`${title} (${date})`)}`;
    return `<entry>
<id>${url}</id>
<title>Document Sync Service ${title}</title>
<updated>${date}T00:00:00Z</updated>
<link href="${url}"/>
<content type="html">${escaped(render(markdown))}</content>
</entry>`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${BASE_URL}${PATH}</id>
<title>Document Sync Service: releases</title>
<updated>${released[0]?.date}T00:00:00Z</updated>
<author><name>Document Sync Service</name></author>
<link rel="self" href="${BASE_URL}${FEED_PATH}"/>
<link href="${BASE_URL}${PATH}"/>
${entries.join('\n')}
</feed>
`;
}
