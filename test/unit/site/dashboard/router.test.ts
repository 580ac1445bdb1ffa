import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeOver, linkTo, openOver, placeOf, replaceBy } from '../../../../functions/site/dashboard/state/router.ts';

describe('a link', () => {
  it('returns to its place with any characters', () => {
    const segment = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(fc.constantFrom('live', 'sandbox'), fc.array(segment), segment, (environment, segments, status) => {
        const place = placeOf(linkTo(environment, segments, { status, cursor: undefined }));
        expect(place).toMatchObject({ environment, segments });
        expect([...place.query]).toEqual([['status', status]]);
      }),
    );
  });

  it.each([
    ['', 'live', []],
    ['#', 'live', []],
    ['#/sandbox', 'sandbox', []],
    ['#/other/webhooks', 'live', ['webhooks']],
    ['#/live/%E0%A4%A', 'live', ['%E0%A4%A']],
    ['#/live//keys/', 'live', ['keys']],
  ])('opens a valid place when typed as "%s"', (hash, environment, segments) => {
    expect(placeOf(hash)).toMatchObject({ environment, segments });
  });
});

describe('a place over another one', () => {
  afterEach(() => void vi.unstubAllGlobals());

  /** A history with one page, and the changes that the dashboard saw. */
  function visit() {
    const entries = [{ state: null as unknown, link: '#/live/events' }];
    const current = () => entries.at(-1) as (typeof entries)[0];
    vi.stubGlobal('dispatchEvent', vi.fn());
    vi.stubGlobal('HashChangeEvent', class {});
    vi.stubGlobal('history', {
      get state() {
        return current().state;
      },
      pushState: (state: unknown, _: string, link: string) => void entries.push({ state, link }),
      replaceState: (state: unknown, _: string, link: string) => void entries.splice(-1, 1, { state, link }),
      back: () => void entries.pop(),
    });
    return () => entries.map(({ link }) => link);
  }

  it('leaves the history as it was when it is closed, also after another one replaced it', () => {
    const links = visit();
    openOver('#/live/events?delivery=1');
    replaceBy('#/live/events?delivery=2');
    expect(links()).toEqual(['#/live/events', '#/live/events?delivery=2']);
    closeOver('#/live/events');
    expect(links()).toEqual(['#/live/events']);
  });
});
