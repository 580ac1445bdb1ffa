import type { ExecutionEnvironment } from './execution-environment.ts';

/** How long to wait for a free environment before another one starts. A start takes about the same time. */
const PATIENCE_MS = 250;
/** How long after the last idle environment was taken a spare one starts. Most invocations end before. */
const SPARE_AFTER_MS = 50;
/** How long an idle environment is kept. */
const IDLE_MS = 60_000;

interface PoolOptions {
  maxSize: number;
  /** Whether an idle environment is kept, so that no invocation waits for a start while others hang. */
  keepsSpare?: boolean;
  start(): ExecutionEnvironment;
}

/**
 * The execution environments of one function. The most recently used environment runs next. An environment that is idle for a
 * while stops. Another one starts if none becomes free for a moment. Lambda starts environments immediately, because each has its own
 * CPU share. On this machine, environments share the CPUs, so fewer of them finish short invocations sooner.
 */
export class EnvironmentPool {
  private readonly options: PoolOptions;
  private readonly all = new Set<ExecutionEnvironment>();
  /** Ordered by last use. */
  private readonly idle: { environment: ExecutionEnvironment; timer: NodeJS.Timeout }[] = [];
  private readonly waiting: ((environment: ExecutionEnvironment) => void)[] = [];
  private freeAt = 0;
  private isGrowing = false;
  private spare: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(options: PoolOptions) {
    this.options = options;
  }

  /** Returns an environment for one invocation. The caller must release it. */
  async acquire(): Promise<ExecutionEnvironment> {
    if (this.isStopped) throw new Error('The function is stopped');
    const last = this.idle.pop();
    clearTimeout(last?.timer);
    const environment = last?.environment ?? new Promise<ExecutionEnvironment>((resolve) => this.waiting.push(resolve));
    if (!last) void this.grow();
    if (this.options.keepsSpare && this.idle.length === 0) this.spareLater();
    return environment;
  }

  release(environment: ExecutionEnvironment): void {
    if (!this.all.has(environment)) return;
    this.freeAt = performance.now();
    const next = this.waiting.shift();
    if (next) next(environment);
    else this.idle.push({ environment, timer: setTimeout(() => void environment.stop(), IDLE_MS) });
  }

  private spareLater(): void {
    const { size } = this.all;
    this.spare ??= setTimeout(() => {
      this.spare = undefined;
      const isNeeded = this.idle.length === 0 && this.all.size === size && size < this.options.maxSize;
      if (isNeeded && !this.isStopped) void this.start();
    }, SPARE_AFTER_MS);
  }

  /** Removes an environment that has ended. */
  discard(environment: ExecutionEnvironment): void {
    this.all.delete(environment);
    const i = this.idle.findIndex((each) => each.environment === environment);
    if (i >= 0) clearTimeout(this.idle.splice(i, 1)[0]?.timer);
    void this.grow();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.spare);
    await Promise.all([...this.all].map((environment) => environment.stop()));
  }

  private async grow(): Promise<void> {
    if (this.isGrowing) return;
    this.isGrowing = true;
    while (!this.isStopped && this.waiting.length > 0 && this.all.size < this.options.maxSize) {
      const waitMs = this.all.size > 0 ? this.freeAt + PATIENCE_MS - performance.now() : 0;
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      else await this.start();
    }
    this.isGrowing = false;
  }

  private async start(): Promise<void> {
    const environment = this.options.start();
    this.all.add(environment);
    await environment.ready;
    if (this.all.has(environment)) this.release(environment);
    else this.waiting.shift()?.(environment); // it ended while it loaded, so one invocation must fail
  }
}
