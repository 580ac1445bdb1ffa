import { serverNow } from '../state/api.ts';
import { useNow } from '../state/hooks.ts';

const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const utc = (at: string): string => `${at.slice(0, 19).replace('T', ' ')} UTC`;

export const timeText = (at: string): string => DATE_TIME.format(new Date(at));

/** A time in the user's time zone, with UTC on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={utc(at)}>
      {timeText(at)}
    </time>
  );
}

const ROW_TIME = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;
const TIME_OF_THIS_YEAR = new Intl.DateTimeFormat(undefined, ROW_TIME);
const TIME_OF_ANOTHER_YEAR = new Intl.DateTimeFormat(undefined, { ...ROW_TIME, year: 'numeric' });

/** A time for a row of a table: without the current year. */
export function ShortTime({ at }: { at: string }) {
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date(serverNow()).getFullYear();
  return (
    <time dateTime={at} title={utc(at)}>
      {(isThisYear ? TIME_OF_THIS_YEAR : TIME_OF_ANOTHER_YEAR).format(date)}
    </time>
  );
}

export const HOUR_MS = 60 * 60 * 1000;
const HOUR = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A time with a precision of one hour. */
export function HourOr({ at, none }: { at: string | null; none: string }) {
  if (at === null) return <span class="muted">{none}</span>;
  const isLately = serverNow() - Date.parse(at) < HOUR_MS;
  return (
    <time dateTime={at} title={utc(at)}>
      {isLately ? 'within the hour' : `after ${HOUR.format(new Date(at))}`}
    </time>
  );
}

export function TimeOr({ at, none }: { at: string | null; none: string }) {
  return at === null ? <span class="muted">{none}</span> : <Time at={at} />;
}

/** Counts down to a time, then shows `over`. */
export function Countdown({ to, over }: { to: string; over: string }) {
  const left = Math.ceil((Date.parse(to) - useNow()) / 1000);
  return (
    <time class="countdown" dateTime={to} title={utc(to)}>
      {left > 0 ? durationText(left) : over}
    </time>
  );
}

/** Counts down to a time, as in `in 3 min 20 s`. */
export const In = ({ to }: { to: string }) => (
  <>
    in <Countdown to={to} over="a moment" />
  </>
);

/** Shows how long a state has lasted in its largest unit, and when it began on hover. */
export function Elapsed({ since }: { since: string }) {
  const seconds = Math.floor((useNow() - Date.parse(since)) / 1000);
  return (
    <time dateTime={since} title={`since ${DATE_TIME.format(new Date(since))}, ${utc(since)}`}>
      {partsOf(seconds)[0]}
    </time>
  );
}

/** `86399` → `23 h 59 min 59 s`. */
export const durationText = (seconds: number): string => partsOf(seconds).join(' ');

function partsOf(seconds: number): string[] {
  const parts: [count: number, unit: string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return shown.length > 0 ? shown : ['0 s'];
}

/** Converts the value of a `datetime-local` field, which is in the user's time zone, for the API; `undefined` if empty. */
export function fromLocal(value: string): string | undefined {
  if (value === '') return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? value : date.toISOString(); // the API explains what is wrong
}

/** Converts a time of the API to the value of a `datetime-local` field. Empty without a time. */
export function toLocal(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const offsetMs = date.getTimezoneOffset() * 60_000;
  return new Date(date.getTime() - offsetMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}
