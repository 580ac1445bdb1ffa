import { Session } from 'node:inspector/promises';
import { afterAll, beforeAll } from 'vitest';

/**
 * Counts how many blocks of code an action executes in files whose URL matches: the work of the processor as a number that
 * is the same in every run. It does not see blocks of native functions, but the callbacks that they call.
 */
export function useSteps(files: RegExp): (act: () => void) => Promise<number> {
  const session = new Session();
  beforeAll(async () => {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  });
  afterAll(async () => {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  });

  return async (act) => {
    await session.post('Profiler.takePreciseCoverage'); // begins at zero
    act();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url }) => files.test(url))
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)))
      .reduce((sum, count) => sum + count, 0);
  };
}
