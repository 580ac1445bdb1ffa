import { goTo } from '../state/router.ts';

const WIDTH = 720;
const HEIGHT = 160;

export interface Bar {
  /** The start of the bar. */
  label: string;
  /** One value for each kind, in the same order. */
  values: readonly number[];
  /** Where a click leads. */
  href?: string | undefined;
}

export interface ColumnsProps {
  /** The stacked kinds from the bottom up: the class with the color, and the name. */
  kinds: readonly (readonly [className: string, name: string])[];
  /** Oldest first. */
  bars: readonly Bar[];
  /** The value of the full height. */
  top: number;
  /** The minimum height of a bar with a value. */
  least?: number;
  onPoint: (bar: number) => void;
}

/** The bars, without labels. */
export function Columns({ kinds, bars, top, least = 0, onPoint }: ColumnsProps) {
  const step = WIDTH / bars.length;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {[0.5, HEIGHT / 2, HEIGHT - 0.5].map((y) => (
        <line key={y} x1="0" x2={WIDTH} y1={y} y2={y} class="axis" />
      ))}
      {bars.map(({ values, href }, i) => {
        let y = HEIGHT;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the table below has the same links
          <g
            key={i}
            class={href && 'opens'}
            onPointerEnter={() => onPoint(i)}
            onClick={href ? () => goTo(href) : undefined}
          >
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
