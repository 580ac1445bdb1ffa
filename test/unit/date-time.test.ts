import { describe, expect, it } from 'vitest';
import { parseDateTime } from '../../lib/date-time.ts';

const FORMAT = 'must be an RFC 3339 date-time from 1970 to 9999 in UTC, such as 2026-01-31T12:00:00.000Z';

describe('a date-time', () => {
  it.each([
    ['1985-04-12T23:20:50.52Z', '1985-04-12T23:20:50.520Z'], // the examples of RFC 3339 §5.8
    ['1996-12-19T16:39:57-08:00', '1996-12-20T00:39:57.000Z'],
    ['1990-12-31T23:59:60Z', '1990-12-31T23:59:59.999Z'],
    ['1990-12-31T15:59:60-08:00', '1990-12-31T23:59:59.999Z'],
    ['2026-01-31T12:00:60.5Z', '2026-01-31T12:00:59.999Z'],
    ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00+05:45', '2026-01-31T06:15:00.000Z'],
    ['2026-01-31T12:00:00.1Z', '2026-01-31T12:00:00.100Z'],
    ['2026-01-31T12:00:00.9999Z', '2026-01-31T12:00:00.999Z'],
    [`2026-01-31T12:00:00.${'0123456789'.repeat(10)}Z`, '2026-01-31T12:00:00.012Z'],
    ['2026-01-31T12:00:00-00:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-01T00:00:00+23:59', '2025-12-31T00:01:00.000Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['2000-02-29T23:59:59.999999999Z', '2000-02-29T23:59:59.999Z'],
    ['2027-02-28T23:59:59-23:59', '2027-03-01T23:58:59.000Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:60Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, expected) => {
    expect(parseDateTime(text)).toEqual({ ms: Date.parse(expected) });
  });

  it.each([
    ['has no time', '2026-01-31'],
    ['has no offset', '2026-01-31T12:00:00'],
    ['has a space in place of T', '2026-01-31 12:00:00Z'],
    ['has the hour 24', '2026-01-31T24:00:00Z'],
    ['has the minute 60', '2026-01-31T12:60:00Z'],
    ['has the second 61', '2026-01-31T12:00:61Z'],
    ['has an empty fraction', '2026-01-31T12:00:00.Z'],
    ['has a fraction with a comma', '2026-01-31T12:00:00,5Z'],
    ['has an offset of 24 hours', '2026-01-31T12:00:00+24:00'],
    ['has an offset of 60 minutes', '2026-01-31T12:00:00+01:60'],
    ['has an offset without a colon', '2026-01-31T12:00:00+0100'],
    ['has an offset without minutes', '2026-01-31T12:00:00+01'],
    ['has the basic format', '20260131T120000Z'],
    ['has a year of five digits', '12026-01-31T12:00:00Z'],
    ['has other digits', '２026-01-31T12:00:00Z'],
    ['has a line feed at its end', '2026-01-31T12:00:00Z\n'],
    ['has a space at its start', ' 2026-01-31T12:00:00Z'],
    ['is before 1970', '1969-12-31T23:59:59Z'],
    ['is in the year 70', '0070-01-01T00:00:00Z'],
    ['is in the year 99', '0099-12-31T23:59:59Z'],
    ['is before 1970 in UTC', '1970-01-01T00:00:00+00:01'],
    ['is after 9999 in UTC', '9999-12-31T23:59:59-23:59'],
    ['is a number', 1_769_860_800_000],
    ['is null', null],
    ['is a list', ['2026-01-31T12:00:00Z']],
  ])('is rejected if it %s', (_, value) => {
    expect(parseDateTime(value)).toEqual({ violation: FORMAT });
  });

  it.each([
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
  ])('is rejected if its date does not exist: %s', (text) => {
    expect(parseDateTime(text)).toEqual({ violation: 'must be a date of the calendar' });
  });

  it('suggests to encode the + of an offset', () => {
    const violation = `${FORMAT}. In a query string, write + as %2B`;
    expect(parseDateTime('2026-01-31T12:00:00 01:00')).toEqual({ violation });
    expect(parseDateTime('2026-01-31 12:00')).toEqual({ violation: FORMAT });
  });
});
