/** A repeated event that tasks can wait for. */
export class Signal {
  private times = 0;
  private readonly waiting = new Set<() => void>();

  /** The number of events so far. */
  get count(): number {
    return this.times;
  }

  give(): void {
    this.times++;
    for (const wake of this.waiting) wake();
  }

  /** Waits until the count exceeds `count`, for at most `timeoutMs`. The timer does not keep the process running. */
  async beyond(count: number, timeoutMs: number): Promise<void> {
    if (this.times > count) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs).unref();
      this.waiting.add(wake);
    });
  }
}
