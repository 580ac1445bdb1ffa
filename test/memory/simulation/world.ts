/** A repeatable sequence of numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An invocation of a Lambda function, or a client. After it is killed, none of its awaited calls settle. */
export interface Process {
  id: number;
  name: string;
  /** `false` after it was killed. Calls that an ended invocation left behind still settle. */
  isAlive: boolean;
  /** The difference of its clock from the clock of the world. */
  skewMs: number;
  onDeath: () => void;
  /** The step at which it started to read its records. */
  readAt: number;
  /** The URLs of its attempts in progress. */
  posting: Set<string>;
  /** The records of its batch. */
  records: readonly unknown[];
  /** The calls and waits of its environment that have not ended. It can wait for calls that an earlier invocation left behind. */
  pending: { count: number };
  /** The kinds of items that it changed, and the step of the first change. */
  written: Map<string, number>;
  /** The step at which it released its idempotency key. A run that starts later is another request. */
  releasedAt: number | undefined;
  /** The last times when it took tokens of the rate limit of each webhook, by its clock. */
  tokensAt: Map<string, number>;
  /** The number of the table that it uses. A restore replaces the table. */
  table: number;
}

/** A call of a process to a service, which waits until the world performs it. */
interface Call {
  process: Process;
  /** The name of the call for the log. */
  name: string;
  perform(): unknown;
  /** The possible faults. */
  faults: readonly FaultKind[];
  /** The probability of a fault, relative to a usual call. */
  risk: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * `refused` and `throttled` calls are not performed. A `lost` call is performed, and its response never arrives. A `repeated`
 * call is performed, and the SDK sends it again after a lost response. `twice` performs the call twice. `killed before` and
 * `killed after` kill the process. A `late` call is performed after some seconds.
 */
const FAULT_KINDS = [
  'refused',
  'throttled',
  'lost',
  'repeated',
  'twice',
  'killed before',
  'killed after',
  'late',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

interface Timer {
  at: number;
  fire(): void;
}

export interface WorldOptions {
  seed: number;
  /** The maximum number of faults. */
  maxFaults: number;
  /** Whether to record every step as text. */
  isTold?: boolean;
  /** The maximum difference between the clocks of two functions. The default is `SKEW_MS`. */
  skewMs?: number;
  /** The longest time until a `late` call is performed. The default is `LATE_MS`. */
  lateMs?: number;
}

/** The probability of a fault for a call. */
const FAULT_RATE = 0.03;
const START_MS = Date.UTC(2026, 0, 31, 12);
/** The maximum difference between the clocks of two functions. */
export const SKEW_MS = 5000;
const LATE_MS = 5000;

/** An error in the format of the SDK. */
export const sdkError = (name: string): Error => Object.assign(new Error(name), { name });
const SDK_ERRORS: Partial<Record<FaultKind, string>> = {
  refused: 'InternalServerError',
  throttled: 'ThrottlingException',
  lost: 'TimeoutError',
};

/** Virtual time, and a scheduler that decides at every `await` which task runs next. A seed determines the history. */
export class World {
  now = START_MS;
  steps = 0;
  faults = 0;
  readonly story: string[] = [];
  /** The processes that have not ended. */
  private readonly running = new Set<Process>();
  private readonly calls: Call[] = [];
  private readonly timers: Timer[] = [];
  private processes = 0;
  private readonly options: WorldOptions;
  // Separate random streams, so that a limit on faults changes the order of other events as little as possible.
  private readonly scheduling: () => number;
  private readonly failing: () => number;
  readonly choosing: () => number;
  private readonly bytes: () => number;

  constructor(options: WorldOptions) {
    this.options = options;
    this.scheduling = randomOf(options.seed);
    this.failing = randomOf(options.seed ^ 0x5bd1e995);
    this.choosing = randomOf(options.seed ^ 0x2545f491);
    this.bytes = randomOf(options.seed ^ 0x1b873593);
  }

  readonly random = (length: number): Uint8Array => new Uint8Array(length).map(() => this.bytes() * 256);

  pick<T>(options: readonly T[]): T {
    return options[Math.floor(this.choosing() * options.length)] as T;
  }

  chance(probability: number): boolean {
    return this.choosing() < probability;
  }

  tell(text: () => string): void {
    if (this.options.isTold) this.story.push(`${new Date(this.now).toISOString().slice(5, 23)}  ${text()}`);
  }

  after(ms: number, fire: () => void): Timer {
    const timer = { at: this.now + ms, fire };
    this.timers.push(timer);
    return timer;
  }

  /** Starts a process. `work` runs until it ends, or until the process is killed; `timeLimitMs` kills it. */
  spawn(
    name: string,
    timeLimitMs: number,
    work: (process: Process) => Promise<void>,
    onDeath: () => void = () => {},
  ): Process {
    const process: Process = {
      id: this.processes++,
      name,
      isAlive: true,
      skewMs: Math.round((this.choosing() - 0.5) * (this.options.skewMs ?? SKEW_MS)),
      onDeath,
      readAt: this.steps,
      posting: new Set(),
      records: [],
      pending: { count: 0 },
      written: new Map(),
      releasedAt: undefined,
      tokensAt: new Map(),
      table: 0,
    };
    this.tell(() => `${name} ${process.id} starts`);
    const limit = this.after(timeLimitMs, () => {
      if (process.isAlive) this.faults++;
      this.kill(process, 'ran out of time');
    });
    this.running.add(process);
    void work(process).then(() => {
      this.running.delete(process);
      const i = this.timers.indexOf(limit);
      if (i >= 0) this.timers.splice(i, 1);
    });
    return process;
  }

  kill(process: Process, why: string): void {
    if (!process.isAlive) return;
    process.isAlive = false;
    this.running.delete(process);
    this.tell(() => `${process.name} ${process.id} ${why}`);
    process.onDeath();
  }

  /** Calls a service from a process. The world decides when and whether the call settles. */
  call<Result>(
    process: Process,
    name: string,
    perform: () => Result,
    faults: readonly FaultKind[] = FAULT_KINDS,
    risk = 1,
  ): Promise<Result> {
    return this.pending(process, (resolve, reject) => {
      if (!process.isAlive) return;
      this.calls.push({ process, name, perform, faults, risk, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Waits for a time in a process. */
  wait(process: Process, ms: number): Promise<void> {
    return this.pending(process, (resolve) => this.after(ms, () => process.isAlive && resolve()));
  }

  /** Counts a promise as pending work of its environment until it settles. */
  private pending<Result>(
    process: Process,
    start: (resolve: (value: Result) => void, reject: (error: unknown) => void) => void,
  ): Promise<Result> {
    const { pending } = process;
    pending.count++;
    return new Promise<Result>((resolve, reject) =>
      start(
        (value) => {
          pending.count--;
          resolve(value);
        },
        (error) => {
          pending.count--;
          reject(error);
        },
      ),
    );
  }

  /** Whether a process waits for neither a call nor a time, because it computes, for example in a thread of WebCrypto. */
  private isComputing(): boolean {
    for (const { pending } of this.running) if (pending.count === 0) return true;
    return false;
  }

  /** Runs until no work is left or `isOver` returns true. Returns `false` if it reaches `stepsMax`. */
  async run(stepsMax: number, isOver: () => boolean = () => false): Promise<boolean> {
    for (const last = this.steps + stepsMax; this.steps < last; this.steps++) {
      do await new Promise(setImmediate);
      while (this.isComputing());
      if (isOver()) return true;
      // Sometimes time passes even though a process could continue.
      const isLate = this.calls.length === 0 || (this.isSoon() && this.scheduling() < 0.05);
      if (!isLate) this.perform(this.take());
      else if (this.timers.length > 0) this.passTime();
      else return true;
    }
    return false;
  }

  /** Whether the next timer fires within the time that a slow call takes. */
  private isSoon(): boolean {
    return this.timers.some(({ at }) => at <= this.now + 3000);
  }

  private take(): Call {
    const i = Math.floor(this.scheduling() * this.calls.length);
    const [call] = this.calls.splice(i, 1);
    return call as Call;
  }

  private passTime(): void {
    const timer = this.timers.reduce((first, each) => (each.at < first.at ? each : first)); // the oldest of equal times
    this.timers.splice(this.timers.indexOf(timer), 1);
    this.now = Math.max(this.now, timer.at);
    timer.fire();
  }

  private perform(call: Call): void {
    if (!call.process.isAlive) return;
    this.now += Math.floor(this.scheduling() * 20);
    const fault = this.faultFor(call);
    if (fault) this.faults++;
    this.tell(() => `${call.process.name} ${call.process.id}: ${call.name}${fault ? `  ⚡ ${fault}` : ''}`);
    if (fault === 'killed before') this.kill(call.process, 'is killed');
    else if (fault === 'late') this.after(this.lateness(), () => this.carryOut(call));
    else if (fault === 'refused' || fault === 'throttled') call.reject(sdkError(SDK_ERRORS[fault] ?? ''));
    else this.carryOut(call, fault);
  }

  private lateness(): number {
    const { lateMs = LATE_MS } = this.options;
    return 1000 + Math.floor(this.failing() * (lateMs - 1000));
  }

  private carryOut(call: Call, fault?: FaultKind): void {
    if (!call.process.isAlive) return;
    try {
      let result = call.perform();
      if (fault === 'repeated') {
        // The retry of the SDK is another call, so other calls can run first.
        this.calls.push(call);
        return;
      }
      if (fault === 'twice') result = call.perform();
      if (fault === 'killed after') this.kill(call.process, 'is killed');
      else if (fault === 'lost') call.reject(sdkError(SDK_ERRORS.lost ?? ''));
      else call.resolve(result);
    } catch (error) {
      call.reject(error);
    }
  }

  /** Calls that an ended invocation left behind have no faults, because the invocation could end twice. */
  private faultFor({ process, faults, risk }: Call): FaultKind | undefined {
    if (!this.running.has(process)) return undefined;
    const isOne = this.failing() < FAULT_RATE * risk && this.faults < this.options.maxFaults;
    return isOne ? faults[Math.floor(this.failing() * faults.length)] : undefined;
  }
}
