import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkTo, placeOf } from '../../../../functions/site/dashboard/state/router.ts';

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
