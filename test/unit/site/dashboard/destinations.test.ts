import { describe, expect, it } from 'vitest';
import { type Destination, destinationsOf, matches } from '../../../../functions/site/dashboard/finder/destinations.ts';
import type { Key, Route } from '../../../../functions/site/dashboard/state/api.ts';
import { canCall } from '../../../../functions/site/dashboard/state/identity.ts';
import type { CallerType } from '../../../../lib/http/route.ts';

const webhook = (name: string): Destination => ({ kind: 'Webhook', name, href: '' });
const names = (all: readonly Destination[], text: string) => matches(all, text).map(({ name }) => name);

describe('the places for a text', () => {
  it('are at most 10 that contain it', () => {
    const all = Array.from({ length: 11 }, (_, index) => webhook(`acme ${index}`));
    const listed = all.slice(0, 10).map(({ name }) => name);
    expect(names(all, 'acme')).toEqual(listed);
    expect(names(all, 'ACME 10')).toEqual(['acme 10']);
  });

  it('are in their order, after those with a word that starts with the text', () => {
    const all = ['Reindex', 'Search index', 'Other', 'Index'].map(webhook);
    expect(names(all, 'index')).toEqual(['Search index', 'Index', 'Reindex']);
  });

  it.each([
    ['failed events', ['#/sandbox/events?status=failed']],
    ['generate key', ['#/sandbox/keys/new']],
    ['create document', ['#/sandbox/documents?new=1']],
  ])('open their pages in the current environment: %s', (text, addresses) => {
    const pages = destinationsOf({ environment: 'sandbox', can: () => true }, [], []);
    expect(matches(pages, text).map(({ href }) => href)).toEqual(addresses);
  });

  it('contain a key in an environment where it can be used, and only pages that the user can open', () => {
    const keys = (['live', 'test', 'admin'] as const).map((type) => ({ id: type, type, name: null, hint: '' }) as Key);
    const addresses = (caller: CallerType, listed: readonly Key[]) => {
      const can = (route: Route) => canCall({ caller }, route);
      return destinationsOf({ environment: 'sandbox', can }, [], listed).map(({ href }) => href);
    };
    const forOthers = addresses('test', []);
    expect(addresses('admin', keys).filter((href) => !forOthers.includes(href))).toEqual([
      ...['#/sandbox/keys', '#/sandbox/keys/new', '#/sandbox/settings'],
      ...['#/live/keys/live', '#/sandbox/keys/test', '#/sandbox/keys/admin'],
    ]);
    const [forEditors, forViewers] = [addresses('editor', []), addresses('viewer', [])];
    expect(forOthers.filter((href) => !forEditors.includes(href))).toEqual([
      '#/sandbox/documents?new=1',
      '#/sandbox/links',
    ]);
    expect(forEditors.filter((href) => !forViewers.includes(href))).toEqual(['#/sandbox/webhooks/new']);
  });
});
