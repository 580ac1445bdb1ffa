import { useId } from 'preact/hooks';
import { Bars } from '../components/bars.tsx';
import { type Counts, KINDS, PERIODS, type Period, type PeriodName, type Stats } from './stats.ts';

const NAMES: Record<keyof Counts, string> = {
  delivered: 'Succeeded',
  failed: 'Failed',
  unsent: 'Canceled or skipped',
};

/** Deliveries over time, by outcome. */
export function Chart({ of: { spans, total }, period }: { of: Stats; period: Period }) {
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
      apart={KINDS.indexOf('failed')}
      empty="No deliveries ended in this period."
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

interface ChoiceProps {
  chosen: PeriodName;
  onChange: (chosen: PeriodName) => void;
}

/** Chooses a period that ends now. */
export function PeriodChoice({ chosen, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">Period</legend>
      {(Object.keys(PERIODS) as PeriodName[]).map((name) => (
        <label key={name}>
          <input type="radio" name={id} checked={name === chosen} onChange={() => onChange(name)} />
          {name}
        </label>
      ))}
    </fieldset>
  );
}
