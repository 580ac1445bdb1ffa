import { expect } from 'vitest';
import type { State } from '../../../../infra/local/services/state.ts';
import { databaseEndpoint } from '../../../support/database.ts';
import { startReceiver } from '../../../support/receiver.ts';
import type { FAST } from '../../../support/service.ts';
import { startWatchedStack, type WatchedStack } from '../../../support/watched-stack.ts';
import type { Endpoints } from './work.ts';

/** Longer than every delay of a queue and a schedule in the work, and shorter than the lifetime of a token. */
export const BETWEEN_STEPS_MS = 31 * 60_000;

export async function startEndpoints(): Promise<Endpoints> {
  const [healthy, failing, recovered] = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
  return { healthy, failing, recovered };
}

/** Runs a deployment with a state at a time, until `use` is done. Nothing may be lost. */
export async function during<Result>(
  { assembly, state, at, pace = {} }: { assembly: string; state: State; at: number; pace?: Partial<typeof FAST> },
  use: (stack: WatchedStack) => Promise<Result>,
): Promise<Result> {
  const failures: string[] = [];
  const output = (id: string, text: string) => void (text.includes('"level":"ERROR"') && failures.push(id + text));
  const stack = await startWatchedStack({ assembly, databaseEndpoint: databaseEndpoint(), state, output, ...pace });
  stack.clock.advance(at - Date.now());
  try {
    const result = await use(stack);
    const lost = ['DeadLetters', 'FailedSchedules'].map((name) => stack.queues.get(name)?.counts().visible);
    expect(lost, 'dead letters and failed schedules').toEqual([0, 0]);
    expect(
      [...stack.buckets.values()].map(({ size }) => size),
      'failed events',
    ).toEqual([0]);
    expect(failures).toEqual([]);
    return result;
  } finally {
    await stack.stop();
  }
}
