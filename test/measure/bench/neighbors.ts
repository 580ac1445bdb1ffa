import { fork } from 'node:child_process';
import { once } from 'node:events';
import { VARIABLES } from '../../support/runtime.ts';
import type { Neighbor } from './neighbors-process.ts';

/** The p95 from an event to its first attempt in the model of `test/support/first-attempts.ts`, alone and next to neighbors. */
export async function measureNeighbors() {
  const silent = { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' };
  const child = fork(new URL('./neighbors-process.ts', import.meta.url), {
    env: { ...process.env, ...VARIABLES, ...silent },
  });
  const [measured] = (await once(child, 'message')) as [Neighbor[]];
  return Object.fromEntries(
    measured.map(({ name, alone, beside, ratio }) => [
      `next to ${name}`,
      { p95_alone_ms: Math.round(alone), p95_ms: Math.round(beside), ratio: ratio.toFixed(2) },
    ]),
  );
}
