import type { ComponentChildren } from 'preact';

const WIDTH = 720;
const HEIGHT = 160;
/** The minimum height of a bar with a value. */
const LEAST_HEIGHT = 12;

interface Bar {
  /** The start of the bar. */
  label: string;
  /** One value for each kind, in the same order. */
  values: readonly number[];
}

interface BarsProps {
  /** The stacked kinds from the bottom up: the class with the color, and the name. */
  kinds: readonly (readonly [className: string, name: string])[];
  /** Oldest first. The last one ends now. */
  bars: readonly Bar[];
  /** The value of a full bar. The default is a round number above the highest bar. */
  max?: number;
  /** The kind that also has a separate row with its own scale, because a few among many would not be visible. */
  apart?: number;
  /** The text for an empty chart. */
  empty?: string;
  children?: ComponentChildren;
}

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

/** Bars over time. A table has the same numbers for people who cannot see them. */
export function Bars({ kinds, bars, max, apart = -1, empty, children }: BarsProps) {
  const highest = Math.max(0, ...bars.map(({ values }) => sum(values)));
  const top = max ?? roundedUp(highest);
  const mostApart = Math.max(0, ...bars.map(({ values }) => values[apart] ?? 0));
  return (
    <figure class="chart">
      {children}
      <div class="plot">
        <div class="scale" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{value.toLocaleString()}</span>
          ))}
        </div>
        <Columns kinds={kinds} bars={bars} top={top} />
        {highest === 0 && empty && <p class="nothing">{empty}</p>}
        {mostApart > 0 && (
          <>
            <div class="scale of-apart" aria-hidden="true">
              <span>{mostApart.toLocaleString()}</span>
            </div>
            <div class="apart">
              <span aria-hidden="true">{kinds[apart]?.[1]}</span>
              <Columns
                kinds={kinds.filter((_, kind) => kind === apart)}
                bars={bars.map(({ label, values }) => ({ label, values: [values[apart] ?? 0] }))}
                top={mostApart}
                least={LEAST_HEIGHT}
              />
            </div>
          </>
        )}
        <div class="labels" aria-hidden="true">
          {bars
            .filter((_, i) => i % Math.ceil(bars.length / 4) === 0)
            .map(({ label }) => (
              <span key={label}>{label}</span>
            ))}
          <span>now</span>
        </div>
      </div>
      <details>
        <summary>View as table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              {kinds.map(([className, name]) => (
                <th key={className} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, values }, i) => (
              <tr key={i}>
                <th scope="row">{label}</th>
                {kinds.map(([className], kind) => (
                  <td key={className}>{values[kind]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

interface ColumnsProps extends Pick<BarsProps, 'kinds' | 'bars'> {
  /** The value of the full height. */
  top: number;
  /** The minimum height of a bar with a value. */
  least?: number;
}

function Columns({ kinds, bars, top, least = 0 }: ColumnsProps) {
  const step = WIDTH / bars.length;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {[0.5, HEIGHT / 2, HEIGHT - 0.5].map((y) => (
        <line key={y} x1="0" x2={WIDTH} y1={y} y2={y} class="axis" />
      ))}
      {bars.map(({ label, values }, i) => {
        let y = HEIGHT;
        return (
          <g key={i}>
            <title>{`${label}: ${kinds.map(([, name], kind) => `${values[kind]} ${name.toLowerCase()}`).join(', ')}`}</title>
            <rect x={i * step} y="0" width={step} height={HEIGHT} class="ground" />
            {kinds.map(([className], kind) => {
              const value = values[kind] ?? 0;
              const height = value === 0 ? 0 : Math.max(least, (value / top) * HEIGHT);
              y -= height;
              return (
                <rect
                  key={className}
                  x={i * step + step * 0.12}
                  y={y}
                  width={step * 0.76}
                  height={height}
                  class={className}
                />
              );
            })}
          </g>
        );
      })}
    </svg>
  );
}

/** The next even number with one digit and zeros, so that its half is a whole number too. */
export function roundedUp(value: number): number {
  const step = 2 * 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value / 2))));
  return Math.max(2, Math.ceil(value / step) * step);
}
