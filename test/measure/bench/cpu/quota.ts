import { readdirSync, readFileSync } from 'node:fs';
import { UserError } from '../../../../infra/user-error.ts';

/** The period in which a process can use its share of CPU time, as of the quotas of control groups. */
const PERIOD_MS = 100;
const CHECK_MS = 2;

/**
 * Limits a process to a share of one CPU core, as the memory size of a function does. Within each period, the process runs until its
 * threads have used their share, and then stops until the next period, like a control group (Linux kernel documentation, "CFS Bandwidth
 * Control"). It needs no privileges, but the statistics of Linux. Returns a function that ends the limit.
 */
export function limitCpu(pid: number, share: number): () => void {
  const quotaMs = PERIOD_MS * share;
  let startedAt = performance.now();
  let usedAtStart = usedMs(pid);
  let isStopped = false;
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    isStopped = name === 'SIGSTOP';
    process.kill(pid, name);
  };
  const timer = setInterval(() => {
    const used = usedMs(pid) - usedAtStart;
    if (performance.now() - startedAt >= PERIOD_MS) {
      startedAt = performance.now();
      // A process that used more than its share, because checks take time, gets less in the next period.
      usedAtStart += Math.min(used, quotaMs);
      if (isStopped && usedMs(pid) - usedAtStart < quotaMs) signal('SIGCONT');
    } else if (!isStopped && used >= quotaMs) signal('SIGSTOP');
  }, CHECK_MS);
  return () => {
    clearInterval(timer);
    if (isStopped) signal('SIGCONT');
  };
}

/** The CPU milliseconds of all living threads of a process (Linux kernel documentation, "Scheduler Statistics"). */
function usedMs(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const used = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    );
    return used.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
  } catch (error) {
    throw new UserError('A CPU limit needs the statistics of processes in /proc, which only Linux has.', {
      cause: error,
    });
  }
}
