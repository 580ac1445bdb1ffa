import { availableParallelism } from 'node:os';

const WINDOW_MS = 200;
/** The share of all CPUs. The database and the endpoints use the rest. */
const BUSY_SHARE = 0.75;

/** Measures the CPU time of this process, which runs every execution environment of the stack. */
export class CpuMeter {
  private readAt = performance.now();
  private usedMs = usedMs();
  private share = 0;

  /** Whether the process used nearly all CPUs in the last fraction of a second. */
  isBusy(): boolean {
    const elapsedMs = performance.now() - this.readAt;
    if (elapsedMs >= WINDOW_MS) {
      const nowUsedMs = usedMs();
      this.share = (nowUsedMs - this.usedMs) / elapsedMs / availableParallelism();
      this.usedMs = nowUsedMs;
      this.readAt += elapsedMs;
    }
    return this.share >= BUSY_SHARE;
  }
}

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
