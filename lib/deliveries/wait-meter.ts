import { performance } from 'node:perf_hooks';

/** How often the wait is counted. A beat counts at most this time. */
const BEAT_MS = 20;
/** How often an attempt receives the time that it has waited. */
const TICK_MS = 100;

interface Wait {
  /** The idle time of the event loop that is counted or excluded already. */
  idleMs: number;
  waitedMs: number;
  tick: ((waitedMs: number) => void) | undefined;
}

/**
 * Counts how long attempts wait for their endpoints. Only the time counts in which the event loop is idle, because a response can
 * be ready while it is busy. A process that does not get the CPU seems idle, but its beats are late then. A late beat counts as
 * much as one in time, and the event loop reads every response that is ready between two beats. So a starved function counts a
 * few beats for a quick endpoint, however long they take, and an endpoint that does not respond is still overdue.
 *
 * @param idleTime Returns the milliseconds for which the event loop of this thread was idle so far.
 */
export function waitMeter(idleTime = () => performance.nodeTiming.idleTime) {
  const waits = new Set<Wait>();
  let timer: NodeJS.Timeout | undefined;

  function beat(): void {
    const idleMs = idleTime();
    for (const wait of waits) {
      const before = wait.waitedMs;
      wait.waitedMs += Math.min(BEAT_MS, idleMs - wait.idleMs);
      wait.idleMs = idleMs;
      const ticks = Math.floor(wait.waitedMs / TICK_MS);
      if (ticks > Math.floor(before / TICK_MS)) wait.tick?.(ticks * TICK_MS);
    }
  }

  /**
   * Starts to count for one attempt, and returns a function that ends it with the milliseconds. `tick` is called after every 100 of
   * them.
   */
  return function startWait(tick?: (waitedMs: number) => void): () => number {
    const wait: Wait = { idleMs: idleTime(), waitedMs: 0, tick };
    waits.add(wait);
    timer ??= setInterval(beat, BEAT_MS); // one timer for all attempts, because each interrupts the process
    return function end() {
      waits.delete(wait);
      if (waits.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
      return Math.floor(wait.waitedMs);
    };
  };
}
