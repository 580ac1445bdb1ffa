import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Bar, Columns, type ColumnsProps } from './columns.tsx';

/** The minimum height of a bar with a value. */
const LEAST_HEIGHT = 12;

/** A row of small bars with its own scale, because small numbers among large ones would not be visible. */
interface Row {
  className: string;
  name: string;
  /** One value for each bar. A row of zeros is hidden. */
  values: readonly number[];
  textOf?: (value: number) => string;
}

interface BarsProps extends Pick<ColumnsProps, 'kinds' | 'bars'> {
  /** The value of a full bar. The default is a round number above the highest bar. */
  max?: number;
  rows?: readonly Row[];
  /** The text for an empty chart. */
  empty?: string;
  children?: ComponentChildren;
}

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);
const inWords = (value: number): string => value.toLocaleString();

/** Bars over time. A table has the same numbers for people who cannot see them. */
export function Bars({ kinds, bars, max, rows = [], empty, children }: BarsProps) {
  const [pointed, setPointed] = useState<number>();
  const highest = Math.max(0, ...bars.map(({ values }) => sum(values)));
  const top = max ?? roundedUp(highest);
  const shown = rows.filter(({ values }) => values.some((value) => value > 0));
  return (
    <figure class="chart">
      {children}
      <div class="plot" onPointerLeave={() => setPointed(undefined)}>
        <div class="scale" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{inWords(value)}</span>
          ))}
        </div>
        <div class="columns-and-tip">
          <Columns kinds={kinds} bars={bars} top={top} onPoint={setPointed} />
          {pointed !== undefined && (
            <Tip
              of={bars[pointed]}
              at={(pointed + 0.5) / bars.length}
              kinds={kinds}
              rows={rows.map((row) => [row.name, textIn(row, pointed)])}
            />
          )}
        </div>
        {highest === 0 && empty && <p class="nothing">{empty}</p>}
        {shown.map((row) => (
          <RowOfBars key={row.name} of={row} bars={bars} onPoint={setPointed} />
        ))}
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
              {[...kinds.map(([, name]) => name), ...rows.map(({ name }) => name)].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, values, href }, i) => (
              <tr key={i}>
                <th scope="row">{href ? <a href={href}>{label}</a> : label}</th>
                {values.map((value, kind) => (
                  <td key={kind}>{inWords(value)}</td>
                ))}
                {rows.map((row) => (
                  <td key={row.name}>{textIn(row, i)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

const textIn = ({ values, textOf = inWords }: Row, i: number): string => textOf(values[i] ?? 0);

interface TipProps extends Pick<BarsProps, 'kinds'> {
  of: Bar | undefined;
  /** The middle of the bar, from 0 to 1. */
  at: number;
  rows: readonly (readonly [name: string, text: string])[];
}

/** The numbers of the bar under the pointer. */
function Tip({ of: bar, at, kinds, rows }: TipProps) {
  if (!bar) return null;
  return (
    <div class={at > 0.5 ? 'tip left' : 'tip'} style={{ left: `${at * 100}%` }} aria-hidden="true">
      <strong>{bar.label}</strong>
      {kinds.map(([className, name], kind) => (
        <span key={name}>
          <i class={className} /> {name} <b>{inWords(bar.values[kind] ?? 0)}</b>
        </span>
      ))}
      {rows.map(([name, text]) => (
        <span key={name}>
          {name} <b>{text}</b>
        </span>
      ))}
    </div>
  );
}

interface RowProps extends Pick<ColumnsProps, 'bars' | 'onPoint'> {
  of: Row;
}

function RowOfBars({ of: { className, name, values, textOf = inWords }, bars, onPoint }: RowProps) {
  const top = Math.max(...values);
  return (
    <>
      <div class="scale of-row" aria-hidden="true">
        <span>{textOf(top)}</span>
      </div>
      <div class="row">
        <span aria-hidden="true">{name}</span>
        <Columns
          kinds={[[className, name]]}
          bars={bars.map((bar, i) => ({ ...bar, values: [values[i] ?? 0] }))}
          top={top}
          least={LEAST_HEIGHT}
          onPoint={onPoint}
        />
      </div>
    </>
  );
}

/** The next even number with one digit and zeros, so that its half is a whole number too. */
export function roundedUp(value: number): number {
  const step = 2 * 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value / 2))));
  return Math.max(2, Math.ceil(value / step) * step);
}
