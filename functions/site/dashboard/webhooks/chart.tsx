import { useId } from 'preact/hooks';
import { Bars } from '../components/bars.tsx';
import { type Counts, KINDS, latencyText, PERIODS, type Period, type PeriodName, type Stats } from './stats.ts';

const NAMES: Record<keyof Counts, string> = {
  delivered: 'Succeeded',
  failed: 'Failed',
  unsent: 'Canceled or skipped',
  paused: 'Paused',
};

interface ChartProps {
  of: Stats;
  period: Period;
  /** The address of the deliveries in a span, if there is a list of them. */
  hrefOf?: (from: number, until: number) => string;
}

/** Deliveries over time by outcome, failures, and the latency. */
export function Chart({ of: { spans, total }, period, hrefOf }: ChartProps) {
  const format = new Intl.DateTimeFormat(
    undefined,
    period.by === 'day' ? { day: 'numeric', month: 'short', timeZone: 'UTC' } : { timeStyle: 'short' },
  );
  const kinds = KINDS.filter((kind) => kind !== 'paused' || total.counts.paused > 0);
  return (
    <Bars
      kinds={kinds.map((kind) => [kind, NAMES[kind]] as const)}
      bars={spans.map(({ from, until, summary: { counts } }) => ({
        label: format.format(from),
        values: kinds.map((kind) => counts[kind]),
        href: hrefOf?.(from, until),
      }))}
      rows={[
        {
          className: 'failed',
          name: 'Failed attempts',
          values: spans.map(({ summary }) => summary.attemptsFailed),
        },
        {
          className: 'latency',
          name: 'Latency p95',
          values: spans.map(({ summary }) => summary.p95 ?? 0),
          textOf: (ms) => latencyText(ms === 0 ? null : ms),
        },
      ]}
      empty="No deliveries ended in this period."
    >
      <ul class="legend">
        {kinds.map((kind) => (
          <li key={kind}>
            <i class={kind} aria-hidden="true" /> {NAMES[kind]} <strong>{total.counts[kind].toLocaleString()}</strong>
          </li>
        ))}
      </ul>
      <p class="hint muted">
        Outcomes at the time they happened. A delivery that is redelivered or recovered counts again.
      </p>
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
