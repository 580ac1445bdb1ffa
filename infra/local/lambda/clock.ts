/** The clock of a local stack. A test can shift it against the clock of the machine, for all functions together. */
export class LocalClock {
  readonly shared = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  private readonly offset = new Float64Array(this.shared);

  now(): number {
    return this.moved(Date.now());
  }

  /** Converts a time of the machine to this clock. */
  moved(timeMs: number): number {
    return timeMs + (this.offset[0] ?? 0);
  }

  advance(ms: number): void {
    this.offset[0] = (this.offset[0] ?? 0) + ms;
  }
}

/** Makes `Date` of this thread use a shared clock. */
export function shiftClock(shared: SharedArrayBuffer): void {
  const offset = new Float64Array(shared);
  const RealDate = Date;
  class ShiftedDate extends RealDate {
    constructor(...args: unknown[]) {
      // @ts-expect-error Date's constructor is overloaded
      super(...(args.length === 0 ? [ShiftedDate.now()] : args));
    }
    static override now(): number {
      return RealDate.now() + (offset[0] ?? 0);
    }
  }
  globalThis.Date = ShiftedDate as DateConstructor;
}
