import { describe, expect, it } from 'vitest';
import { chapters } from '../../../../functions/site/docs/render/docs.ts';
import { searchIndex } from '../../../../functions/site/docs/render/search-index.ts';
import { excerptOf, splitAtMatches } from '../../../../functions/site/docs/search/excerpt.ts';
import { queryOf } from '../../../../functions/site/docs/search/query.ts';
import { createSearch } from '../../../../functions/site/docs/search/rank.ts';

const places = searchIndex(chapters());
const search = createSearch(places);

/** The section that readers look for, and what they type in other words than its heading. */
const QUERIES: Record<string, string[]> = {
  'docs/conventions#pages': ['pagination', 'next_cursor'],
  'docs/receivers#fastapi': ['python'],
  'docs/receivers#go': ['golang'],
  'docs/receivers#next-js': ['next.js'],
  'docs/receivers#frameworks-with-csrf-protection': ['csrf token'],
  'docs/receiving#on-your-machine': ['ngrok', 'localhost', 'how do I test locally', 'test my webhook'],
  'docs/receiving#verify-with-a-library': ['replay attack', 'php'],
  'docs/delivery#attempts-and-retries': ['retry schedule', 'retries', 'timeout', 'how long do I have to respond'],
  'docs/receiving#verify-by-hand': ['signatur', 'hmac', 'raw body', 'signature verification python'],
  'docs/keys#rotate': ['rotate a key', 'rotate without downtime'],
  'docs/receiving#rotate-the-secret': ['rotate webhook secret', 'change signing secret'],
  'docs/keys#allowlists': ['ip whitelist'],
  'docs/keys#a-key-has-leaked': ['leaked key', 'how do I revoke a key', 'key stolen what now'],
  'docs/keys#audit-log': ['audit log', 'someone changed our webhook url who was it'],
  'docs/keys#how-many-emails-a-project-receives': ['email limit', 'too many emails'],
  'docs/delivery#duplicates-and-order': [
    'exactly once',
    'are events ordered',
    'events changed order',
    'handling duplicates',
  ],
  'docs/receiving#keep-a-copy-of-the-documents': ['keep a replica'],
  'docs/conventions#repeating-a-request': ['idempotency key', 'is it safe to retry a POST after a timeout'],
  'docs/delivery#lanes': ['slow endpoint'],
  'docs/delivery#responses-without-an-effect-of-their-own': [
    '410 gone unsubscribes',
    'my endpoint answers 429 with retry-after',
  ],
  'docs/delivery#disabling': ['webhook disabled', 'webhook paused'],
  'docs/retries#after-an-outage': [
    'missed events',
    'resend all failed events',
    'what happens after an outage',
    'our server was down for 3 hours how to get missed events',
    'dead letter',
    'recover deliveries',
  ],
  'docs/retries#rate-limit': ['rate limit', 'throttle deliveries'],
  'docs/conventions#limits': ['429', 'max document size', 'backpressure', 'how long is data stored'],
  'docs/conventions#errors': ['error codes'],
  'docs/tokens': ['jwt in the browser', 'cors', 'token expired', 'can I use a key in the browser', 'tokne'],
  'docs/tokens#patterns': ['wildcard'],
  'docs/sync#an-example-of-a-conflict': ['merge conflict', 'last write wins'],
  'docs/sync#connections': ['presence', 'user went offline'],
  'docs/concepts#projects-events-and-deliveries': ['sandbox', 'what is a project', 'difference between test and live'],
  'docs/operating#costs': ['pricing', 'cost per million'],
  'docs/versions': ['breaking changes', 'downgrade', 'rollback'],
  'docs/api-webhooks#testWebhook': ['send test event'],
  'docs/receiving#source-addresses': ['ip address of sender', 'mTLS', 'vpc'],
  'docs/receiving#custom-headers': ['authorization header of my endpoint', 'basic auth'],
  'docs/receiving#choose-events-and-documents': ['only events of some documents'],
  'docs/troubleshooting#the-signature-does-not-verify': ['invalid signature', 'Error: No matching signature found'],
  'docs/troubleshooting#the-delivery-failed': [
    'ssl certificate',
    'redirect',
    'endpoint returns 401',
    'ECONNREFUSED',
    'socket hang up',
  ],
  'docs/troubleshooting#no-delivery-appears': ['webhook not firing', 'webook not recieved'],
  'docs/troubleshooting#the-webhook-was-disabled': ['my webhook got turned off automatically'],
  'docs/going-live': ['go live checklist'],
  'docs/retries#after-more-than-30-days': ['resync'],
  'docs/errors#payload_too_large': ['413 payload too large'],
  'docs/sync#write': ['if-match', 'etag'],
  'docs/errors#precondition_failed': ['optimistic locking'],
  'docs/operating#restore-data': ['restore backup', 'undo delete table'],
  'docs/operating#manage-projects': ['gdpr erase customer data', 'lost admin key', 'suspend a customer'],
  'docs#find-an-answer': ['postman', 'download openapi', 'swagger'],
  'docs/operating#before-the-first-deployment': ['terraform', 'self host'],
  'docs/keys': ['which key for production'],
  'docs/tokens#verify-a-token-in-your-own-server': ['verify a token', 'token introspection'],
  'docs/delivery#states-of-a-delivery': ['what does skipped mean'],
  'docs/keys#addresses-that-receive-no-emails': ['bounced email'],
  'docs/keys#emails-about-security-changes': ['security email'],
};
const rows = Object.entries(QUERIES).flatMap(([href, queries]) => queries.map((query) => [query, href] as const));

describe('the search', () => {
  it.each(rows)('lists the right section first or second: %s', (query, href) => {
    const found = search(query).map((place) => place.href);
    expect(found.slice(0, 2)).toContain(href);
  });

  it('finds the last words of a long section', () => {
    for (const { text, href } of places) {
      if (text.length < 1000) continue;
      const last =
        text
          .split(/[\s\p{P}]+/u)
          .filter((word) => /^\w{6,}$/.test(word))
          .at(-1) ?? '';
      expect(search(last).length, `${href}: ${last}`).toBeGreaterThan(0);
    }
  });

  it('has excerpts without character references, placeholders and labels of commands', () => {
    const texts = places.map(({ text }) => text);
    expect(texts.filter((text) => /&(?:#\w+|\w+);|\bcurl curl\b|\{base_url\}/.test(text))).toEqual([]);
  });

  it.each(['qwxzvkj', '  '])('finds nothing for words that no section resembles: "%s"', (query) => {
    expect(search(query)).toEqual([]);
  });

  it('lists at most 12 sections', () => {
    expect(search('webhook')).toHaveLength(12);
  });

  it('ignores the plural, the case and filler words', () => {
    const best = (query: string) => search(query)[0]?.href;
    expect(best('How do I use the Allowlists?')).toBe(best('allowlist'));
  });

  it('finds the status of an error', () => {
    const errors = search('403').filter(({ page }) => page === 'Errors');
    expect(errors.map(({ heading }) => heading)).toContain('ip_not_allowed');
  });

  it('ranks sections by words when no section contains all of them', () => {
    expect(search('ngrok qwxzvkj').map(({ href }) => href)).toEqual(['docs/receiving#on-your-machine']);
  });
});

const words = (count: number): string => Array.from({ length: count }, (_, i) => `word-${i}`).join(' ');

/** Long enough for a slow computer, and a fraction of the time without a limit. */
const MAX_MS = 2000;
const timeOf = (call: () => void): number => {
  const startedAt = performance.now();
  call();
  return performance.now() - startedAt;
};

describe('a pasted text', () => {
  const token = `${'eyJhbGciOiJIUzI1NiJ9'.repeat(50)}.${'c2lnbmF0dXJl'.repeat(70)}`;
  const prose = places.map(({ text }) => text).join(' ');

  it('that is one long word, such as a token, does not stop the page', () => {
    expect(timeOf(() => search(token))).toBeLessThan(MAX_MS);
  });

  it('that is a long page does not stop the page, and finds sections with its first words', () => {
    const find = () => {
      const query = queryOf(prose);
      const queried = query.toLowerCase().split(/\s+/);
      const found = search(query);
      for (const { text } of found) splitAtMatches(excerptOf(text, queried), queried);
      expect(found).not.toEqual([]);
    };
    expect(timeOf(find)).toBeLessThan(MAX_MS);
  });
});

describe('the excerpt of a search result', () => {
  it('starts and ends with whole words around the match', () => {
    const excerpt = excerptOf(words(60), ['word-30']);
    expect(excerpt).toMatch(/^…(?:word-\d+ )+word-\d+…$/);
    expect(excerpt).toContain(' word-30 ');
  });

  it('is the part with the most words of the query', () => {
    const text = `A lease. ${words(40)} It renews a lease. ${words(40)}`;
    expect(excerptOf(text, ['lease', 'renews'])).toMatch(/^….* It renews a lease\. .*…$/);
  });

  it('marks no omission in a short text', () => {
    expect(excerptOf('Rotate a key', ['key'])).toBe('Rotate a key');
  });

  it('starts at the beginning when the text contains no word of the query', () => {
    expect(excerptOf(words(60), ['missing'])).toMatch(/^word-0 .* word-\d+…$/);
  });

  it('cuts a word that is longer than the excerpt', () => {
    expect(excerptOf('x'.repeat(200), [])).toBe(`${'x'.repeat(110)}…`);
  });
});

describe('matches in a text', () => {
  it('are every second part, in any case', () => {
    const parts = ['', 'Rotate', ' the ', 'key', ', then ', 'rotate', ''];
    expect(splitAtMatches('Rotate the key, then rotate', ['rotate', 'key'])).toEqual(parts);
  });

  it('are literal', () => {
    expect(splitAtMatches('a.b and aXb (c)', ['a.b', '(c'])).toEqual(['', 'a.b', ' and aXb ', '(c', ')']);
  });
});
