import { serverNow } from '../state/api.ts';
import { HOUR_MS } from './time.tsx';

/** A period of a list as its URL has it. A cursor is valid only with the times that it came with. */
export interface Period {
  /** The name of the choice, or an empty text. */
  period: string;
  /** Empty without a start. */
  since: string;
  /** Empty for a period that ends now. */
  until: string;
}

const DAY_HOURS = 24;
const WEEK_HOURS = 7 * DAY_HOURS;

/** The choice that shows two fields. */
export const CUSTOM = 'custom';

/** Periods by their names in the URL: their text, and their times for the current time. */
const PRESETS: Readonly<
  Record<string, readonly [text: string, spanOf: (nowMs: number) => readonly [number, number?]]>
> = {
  hour: ['Last hour', (nowMs) => [nowMs - HOUR_MS]],
  day: ['Last 24 hours', (nowMs) => [nowMs - DAY_HOURS * HOUR_MS]],
  yesterday: ['Yesterday', (nowMs) => [midnight(nowMs, -1), midnight(nowMs, 0)]],
  week: ['Last 7 days', (nowMs) => [nowMs - WEEK_HOURS * HOUR_MS]],
};

/** The start of a day in the user's time zone, some days after the current one. A day can have 23 or 25 hours. */
function midnight(nowMs: number, days: number): number {
  const now = new Date(nowMs);
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).getTime();
}

/** The period of a choice. The fields of a custom one start with the times of the period before. */
export function chosenPeriod(choice: string, before: Pick<Period, 'since' | 'until'>, nowMs: number): Period {
  if (choice === CUSTOM) return { period: choice, since: before.since, until: before.until };
  const [since, until] = PRESETS[choice]?.[1](nowMs) ?? [];
  return { period: choice, since: isoOrEmpty(since), until: isoOrEmpty(until) };
}

const isoOrEmpty = (ms: number | undefined): string => (ms === undefined ? '' : new Date(ms).toISOString());

/** The option for a span of a chart, which no choice has. */
const SPAN = 'span';
const SPAN_TIME = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});

/** The choices, and which one a period has. */
export function choicesOf({ period, since, until }: Period): {
  chosen: string;
  options: [value: string, text: string][];
} {
  const isSpan = period === '' && (since !== '' || until !== '');
  const spanText = () => SPAN_TIME.formatRange(Date.parse(since) || 0, Date.parse(until) || serverNow());
  return {
    chosen: isSpan ? SPAN : period,
    options: [
      ...(isSpan ? [[SPAN, spanText()] satisfies [string, string]] : []),
      ['', 'Any time'],
      ...Object.entries(PRESETS).map(([name, [text]]): [string, string] => [name, text]),
      [CUSTOM, 'Choose a period…'],
    ],
  };
}
