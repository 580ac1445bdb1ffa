import type { ComponentChildren } from 'preact';
import { latencyText, type Summary, successRate } from './stats.ts';

interface Stat {
  name: string;
  value: string;
  unit: string;
  meaning: string;
}

/** The key figures of a period. `undefined` while they load. */
export function DeliveryStats({ of: summary, children }: { of: Summary | undefined; children?: ComponentChildren }) {
  return (
    <dl class="stats" aria-busy={summary === undefined}>
      {children}
      {statsOf(summary).map(({ name, value, unit, meaning }) => (
        <div key={name} title={meaning}>
          <dt>{name}</dt>
          <dd>
            {value} <small>{unit}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function statsOf(summary: Summary | undefined): Stat[] {
  const number = (of: (summary: Summary) => number) => (summary ? of(summary).toLocaleString() : '–');
  return [
    {
      name: 'Success rate',
      value: summary ? successRate(summary) : '–',
      unit: 'of attempts',
      meaning: 'Successful attempts among all attempts, including retries.',
    },
    {
      name: 'Delivered',
      value: number(({ counts }) => counts.delivered),
      unit: 'deliveries',
      meaning: 'Deliveries that an endpoint accepted with a 2xx status code.',
    },
    {
      name: 'Failed attempts',
      value: number(({ attemptsFailed }) => attemptsFailed),
      unit: 'attempts',
      meaning: 'Attempts that failed. Each delivery has up to six attempts.',
    },
    {
      name: 'Latency p50',
      value: latencyText(summary?.p50 ?? null),
      unit: '',
      meaning: 'Half of the successful attempts took at most this long.',
    },
    {
      name: 'Latency p95',
      value: latencyText(summary?.p95 ?? null),
      unit: '',
      meaning: '95 % of the successful attempts took at most this long.',
    },
  ];
}
