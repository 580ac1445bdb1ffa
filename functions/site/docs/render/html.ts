import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';

const LANGUAGES = { bash, go, http, java, javascript, json, php, python, ruby };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** The display names of languages that have another one in highlight.js. */
const NAMES: Record<string, string> = { bash: 'curl', php: 'PHP' };

export const languageName = (language: string): string => NAMES[language] ?? hljs.getLanguage(language)?.name ?? '';

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** The anchor of a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/<[^>]+>|&\w+;/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** Highlights code. Throws for an unknown language. */
export function code(text: string, language: string): string {
  const html = plainPlaceholders(hljs.highlight(text, { language }).value);
  return `<figure data-language="${languageName(language)}"><pre tabindex="0"><code>${html}</code></pre></figure>`;
}

/** Removes the color of placeholders, such as `<time>`, which is a keyword of Bash. */
const plainPlaceholders = (html: string): string =>
  html.replace(/&lt;<span class="[^"]*">([\w-]+)<\/span>(?=&gt;)/g, '&lt;$1');

/** Shows the same code in several languages. The script of the page turns it into tabs. */
export const tabs = (figures: readonly string[]): string => `<div class="tabs">${figures.join('\n')}</div>`;

/** Renders a description with inline `code` and [links](…). */
export const inline = (text: string): string =>
  escaped(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\[([^\]]+)\]\(([^)]+)\)/g, '<a href="$2">$1</a>');
