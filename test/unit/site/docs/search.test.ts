import { describe, expect, it } from 'vitest';
import { chapters } from '../../../../functions/site/docs/render/docs.ts';
import { searchIndex } from '../../../../functions/site/docs/render/search-index.ts';
import { createSearch } from '../../../../functions/site/docs/search/rank.ts';

const places = searchIndex(chapters());
const search = createSearch(places);

/** What readers type, and the section that they look for. */
const QUERIES: [query: string, href: string][] = [
  ['pagination', 'docs/conventions#pages'],
  ['next_cursor', 'docs/conventions#pages'],
  ['express', 'docs/receivers#express'],
  ['python', 'docs/receivers#fastapi'],
  ['golang', 'docs/receivers#go'],
  ['next.js', 'docs/receivers#next-js'],
  ['csrf token', 'docs/receivers#frameworks-with-csrf-protection'],
  ['ngrok', 'docs/receiving#on-your-machine'],
  ['localhost', 'docs/receiving#on-your-machine'],
  ['replay attack', 'docs/receiving#verify-with-a-library'],
  ['retry schedule', 'docs/delivery#attempts-and-retries'],
  ['retries', 'docs/delivery#attempts-and-retries'],
  ['signatur', 'docs/receiving#verify-by-hand'],
  ['hmac', 'docs/receiving#verify-by-hand'],
  ['raw body', 'docs/receiving#verify-by-hand'],
  ['rotate a key', 'docs/keys#rotate'],
  ['rotate webhook secret', 'docs/receiving#rotate-the-secret'],
  ['ip whitelist', 'docs/keys#allowlists'],
  ['leaked key', 'docs/keys#a-key-has-leaked'],
  ['email limit', 'docs/keys#how-many-emails-a-project-receives'],
  ['timeout', 'docs/delivery#attempts-and-retries'],
  ['duplicate events', 'docs/delivery#duplicates-and-order'],
  ['exactly once', 'docs/delivery#duplicates-and-order'],
  ['keep a replica', 'docs/receiving#keep-a-copy-of-the-documents'],
  ['hocuspocus', 'docs/connect-engine#hocuspocus'],
  ['automerge', 'docs/connect-engine#automerge'],
  ['connect sync engine', 'docs/connect-engine'],
  ['event order', 'docs/delivery#duplicates-and-order'],
  ['idempotency key', 'docs/conventions#repeating-a-request'],
  ['slow endpoint', 'docs/delivery#lanes'],
  ['webhook disabled', 'docs/delivery#disabling'],
  ['missed events', 'docs/retries#after-an-outage'],
  ['rate limit', 'docs/retries#rate-limit'],
  ['429', 'docs/conventions#limits'],
  ['max document size', 'docs/conventions#limits'],
  ['error codes', 'docs/conventions#errors'],
  ['delivery failure codes', 'docs/errors#delivery-failures'],
  ['jwt in the browser', 'docs/tokens'],
  ['cors', 'docs/tokens'],
  ['wildcard', 'docs/tokens#patterns'],
  ['merge conflict', 'docs/sync#an-example-of-a-conflict'],
  ['presence', 'docs/sync#connections'],
  ['sandbox', 'docs/concepts#projects-events-and-deliveries'],
  ['pricing', 'docs/operating#costs'],
  ['breaking changes', 'docs/versions'],
  ['send test event', 'docs/api-webhooks#testWebhook'],
  ['ip address of sender', 'docs/receiving#source-addresses'],
  ['mTLS', 'docs/receiving#source-addresses'],
  ['invalid signature', 'docs/troubleshooting#the-signature-does-not-verify'],
  ['ssl certificate', 'docs/troubleshooting#the-delivery-failed'],
  ['redirect', 'docs/troubleshooting#the-delivery-failed'],
  ['webhook not firing', 'docs/troubleshooting#no-delivery-appears'],
  ['go live checklist', 'docs/going-live'],
  ['resync', 'docs/retries#after-more-than-30-days'],
  ['delete a webhook', 'docs/api-webhooks#deleteWebhook'],
  ['list deliveries', 'docs/api-webhooks#listDeliveries'],
  ['ip_not_allowed', 'docs/errors#ip_not_allowed'],
  ['413 payload too large', 'docs/errors#payload_too_large'],
  ['if-match', 'docs/sync#write'],
  ['etag', 'docs/sync#write'],
  ['backpressure', 'docs/conventions#limits'],
  ['downgrade', 'docs/versions'],
  ['rollback', 'docs/versions'],
  ['optimistic locking', 'docs/errors#precondition_failed'],
  ['resend all failed events', 'docs/retries#after-an-outage'],
  ['restore backup', 'docs/operating#restore-data'],
  ['undo delete table', 'docs/operating#restore-data'],
  ['what happens after an outage', 'docs/retries#after-an-outage'],
  ['gdpr erase customer data', 'docs/operating#manage-projects'],
  ['lost admin key', 'docs/operating#manage-projects'],
  ['event types', 'docs/events'],
  ['how do I test locally', 'docs/receiving#on-your-machine'],
  ['php', 'docs/receiving#verify-with-a-library'],
  ['postman', 'docs#find-an-answer'],
  ['change signing secret', 'docs/receiving#rotate-the-secret'],
  ['authorization header of my endpoint', 'docs/receiving#source-addresses'],
  ['basic auth', 'docs/receiving#source-addresses'],
  ['vpc', 'docs/receiving#source-addresses'],
  ['dead letter', 'docs/retries#after-an-outage'],
  ['terraform', 'docs/operating#before-the-first-deployment'],
  ['self host', 'docs/operating#before-the-first-deployment'],
  ['audit log', 'docs/keys#a-key-has-leaked'],
  ['how do I revoke a key', 'docs/keys#a-key-has-leaked'],
  ['which key for production', 'docs/keys'],
  ['run locally', 'docs/local'],
  ['verify a token', 'docs/tokens#verify-a-token-in-your-own-server'],
  ['token introspection', 'docs/tokens#verify-a-token-in-your-own-server'],
  ['token expired', 'docs/tokens'],
  ['can I use a key in the browser', 'docs/tokens'],
  ['token for one document', 'docs/tokens'],
  ['are events ordered', 'docs/delivery#duplicates-and-order'],
  ['events changed order', 'docs/delivery#duplicates-and-order'],
  ['handling duplicates', 'docs/delivery#duplicates-and-order'],
  ['throttle deliveries', 'docs/retries#rate-limit'],
  ['recover deliveries', 'docs/retries#after-an-outage'],
  ['redeliver one event', 'docs/retries#after-an-outage'],
  ['what does skipped mean', 'docs/delivery#states-of-a-delivery'],
  ['webhook paused', 'docs/delivery#disabling'],
  ['endpoint returns 401', 'docs/troubleshooting#the-delivery-failed'],
  ['signature verification python', 'docs/receiving#verify-by-hand'],
  ['test my webhook', 'docs/receiving#on-your-machine'],
  ['connection lost event', 'docs/events#connection-lost'],
  ['last write wins', 'docs/sync#an-example-of-a-conflict'],
  ['too many emails', 'docs/keys#how-many-emails-a-project-receives'],
  ['bounced email', 'docs/keys#addresses-that-receive-no-emails'],
  ['security email', 'docs/keys#emails-about-security-changes'],
  ['rotate without downtime', 'docs/keys#rotate'],
  ['publish many events', 'docs/api-events#publishEvents'],
  ['download openapi', 'docs#find-an-answer'],
  ['cost per million', 'docs/operating#costs'],
  ['suspend a customer', 'docs/operating#manage-projects'],
];

describe('the search', () => {
  it.each(QUERIES)('lists the right section first or second: %s', (query, href) => {
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

  it('has excerpts without character references and labels of commands', () => {
    const texts = places.map(({ text }) => text);
    expect(texts.filter((text) => /&(?:#\w+|\w+);|\bcurl curl\b/.test(text))).toEqual([]);
  });

  it('finds nothing for a word that no section resembles', () => {
    expect(search('qwxzvkj')).toEqual([]);
  });

  it('finds nothing for an empty query', () => {
    expect(search('  ')).toEqual([]);
  });

  it('ignores the plural, the case and filler words', () => {
    const best = (query: string) => search(query)[0]?.href;
    expect(best('How do I use the Allowlists?')).toBe(best('allowlist'));
  });

  it('ranks sections by words when no section contains all of them', () => {
    expect(search('ngrok qwxzvkj').map(({ href }) => href)).toEqual(['docs/receiving#on-your-machine']);
  });
});
