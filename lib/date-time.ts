/** RFC 3339 §5.6. The seconds can be absent, because `OffsetDateTime` of Java omits them. */
const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:\.(\d+))?)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;
/** A query string in which `+` was not encoded. */
const SPACE_BEFORE_OFFSET = /T[\d:.]+ \d\d:\d\d$/i;

const MINUTE_MS = 60_000;
const FIRST_MS = 0;
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const FORMAT = 'must be an RFC 3339 date-time from 1970 to 9999 in UTC, such as 2026-01-31T12:00:00.000Z';

/** Parses a date-time of a request as milliseconds since 1970, or returns its violation. */
export function parseDateTime(value: unknown): { ms: number } | { violation: string } {
  const text = typeof value === 'string' ? value : '';
  const parts = DATE_TIME.exec(text);
  if (!parts)
    return { violation: SPACE_BEFORE_OFFSET.test(text) ? `${FORMAT}. In a query string, write + as %2B` : FORMAT };
  const [, year, month, day, hour, minute, second = '0', fraction = '', sign, offsetHour, offsetMinute] = parts;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  // Date.UTC continues after the end of a month with the next one.
  if (date.getUTCMonth() !== Number(month) - 1) return { violation: 'must be a date of the calendar' };
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  if (date.getUTCFullYear() !== Number(year)) return { violation: FORMAT };
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0));
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  // A leap second is the last millisecond of its minute. Fractions are truncated.
  const inMinute =
    second === '60' ? MINUTE_MS - 1 : Number(second) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
  const ms = date.getTime() + minutes * MINUTE_MS + inMinute;
  return ms >= FIRST_MS && ms <= LAST_MS ? { ms } : { violation: FORMAT };
}
