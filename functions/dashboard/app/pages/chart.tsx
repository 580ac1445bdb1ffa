import { type Activity, type Counts, KINDS, type Period } from '../activity.ts';
import { Bars } from '../components/bars.tsx';

const NAMES: Record<keyof Counts, string> = {
  delivered: 'Succeeded',
  failed: 'Failed',
  unsent: 'Canceled or skipped',
};

/** Deliveries over time, by outcome. */
export function Chart({ of: { spans, total }, period }: { of: Activity; period: Period }) {
  const format = new Intl.DateTimeFormat(
    undefined,
    period.by === 'day' ? { day: 'numeric', month: 'short', timeZone: 'UTC' } : { timeStyle: 'short' },
  );
  return (
    <Bars
      kinds={KINDS.map((kind) => [kind, NAMES[kind]] as const)}
      bars={spans.map(({ from, counts }) => ({
        label: format.format(from),
        values: KINDS.map((kind) => counts[kind]),
      }))}
      empty="No deliveries in this period."
    >
      <ul class="legend">
        {KINDS.map((kind) => (
          <li key={kind}>
            <i class={kind} aria-hidden="true" /> {NAMES[kind]} <strong>{total.counts[kind].toLocaleString()}</strong>
          </li>
        ))}
      </ul>
    </Bars>
  );
}
