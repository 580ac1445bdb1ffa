import { type Activity, type Counts, KINDS, type Period } from '../activity.ts';

const NAMES: Record<keyof Counts, string> = {
  delivered: 'Succeeded',
  failed: 'Failed',
  unsent: 'Canceled or skipped',
};
const WIDTH = 720;
const HEIGHT = 160;
const sum = (counts: Counts): number => KINDS.reduce((total, kind) => total + counts[kind], 0);

/** Deliveries over time, one stacked bar per span. A table has the same numbers for people who cannot see the chart. */
export function Chart({ of: { spans, total }, period }: { of: Activity; period: Period }) {
  const highest = Math.max(1, ...spans.map(({ counts }) => sum(counts)));
  const format = new Intl.DateTimeFormat(
    undefined,
    period.by === 'day' ? { day: 'numeric', month: 'short', timeZone: 'UTC' } : { timeStyle: 'short' },
  );
  const label = (from: number) => format.format(from);
  const step = WIDTH / spans.length;
  return (
    <figure class="chart">
      <ul class="legend">
        {KINDS.map((kind) => (
          <li key={kind}>
            <i class={kind} aria-hidden="true" /> {NAMES[kind]} <strong>{total.counts[kind].toLocaleString()}</strong>
          </li>
        ))}
      </ul>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} class="axis" />
        {spans.map(({ from, counts }, i) => {
          let top = HEIGHT;
          return (
            <g key={from}>
              <title>{`${label(from)}: ${KINDS.map((kind) => `${counts[kind]} ${NAMES[kind].toLowerCase()}`).join(', ')}`}</title>
              <rect x={i * step} y="0" width={step} height={HEIGHT} class="ground" />
              {KINDS.map((kind) => {
                const height = (counts[kind] / highest) * (HEIGHT - 10);
                top -= height;
                return <rect key={kind} x={i * step + 3} y={top} width={step - 6} height={height} class={kind} />;
              })}
            </g>
          );
        })}
      </svg>
      <div class="labels" aria-hidden="true">
        {spans
          .filter((_, i) => i % Math.ceil(spans.length / 4) === 0)
          .map(({ from }) => (
            <span key={from}>{label(from)}</span>
          ))}
      </div>
      <details>
        <summary>View as table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              {KINDS.map((kind) => (
                <th key={kind} scope="col">
                  {NAMES[kind]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {spans.map(({ from, counts }) => (
              <tr key={from}>
                <th scope="row">{label(from)}</th>
                {KINDS.map((kind) => (
                  <td key={kind}>{counts[kind]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
