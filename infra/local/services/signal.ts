/** Something that happens now and again, and that others wait for. */
export class Signal {
  private times = 0;
  private readonly waiting = new Set<() => void>();

  /** How often it has happened. */
  get count(): number {
    return this.times;
  }

  give(): void {
    this.times++;
    for (const wake of this.waiting) wake();
  }

  /** Until it has happened more often than that, and at most for so many milliseconds. Keeps no process running. */
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
