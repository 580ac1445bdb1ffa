import type { ExecutionEnvironment } from './execution-environment.ts';

export interface PoolOptions {
  maxSize: number;
  /** How long an environment without an invocation is kept. */
  idleMs: number;
  start(): ExecutionEnvironment;
}

/**
 * The execution environments of one function. They are started when all others are at work; the one that was used last is
 * used first, and one that nobody needed for a while is ended.
 */
export class EnvironmentPool {
  private readonly options: PoolOptions;
  private readonly all = new Set<ExecutionEnvironment>();
  /** The one that was used last is the last. */
  private readonly idle: { environment: ExecutionEnvironment; timer: NodeJS.Timeout }[] = [];
  private readonly waiting: ((environment: ExecutionEnvironment) => void)[] = [];
  private isStopped = false;

  constructor(options: PoolOptions) {
    this.options = options;
  }

  get size(): number {
    return this.all.size;
  }

  /** An environment to run one invocation in; whoever takes it gives it back. Waits if all there may be are at work. */
  async acquire(): Promise<ExecutionEnvironment> {
    const last = this.idle.pop();
    clearTimeout(last?.timer);
    if (last) return last.environment;
    if (this.all.size < this.options.maxSize) return this.start();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  release(environment: ExecutionEnvironment): void {
    if (!this.all.has(environment)) return;
    const next = this.waiting.shift();
    if (next) next(environment);
    else this.idle.push({ environment, timer: setTimeout(() => void environment.stop(), this.options.idleMs) });
  }

  /** Forgets an environment that has ended. */
  discard(environment: ExecutionEnvironment): void {
    this.all.delete(environment);
    const i = this.idle.findIndex((each) => each.environment === environment);
    if (i >= 0) clearTimeout(this.idle.splice(i, 1)[0]?.timer);
    if (!this.isStopped) this.waiting.shift()?.(this.start());
  }

  /** Ends an environment that is at work. Returns whether there was one. */
  killOne(): boolean {
    const idle = new Set(this.idle.map(({ environment }) => environment));
    const [busy] = this.all.difference(idle);
    void busy?.stop();
    return busy !== undefined;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.all].map((environment) => environment.stop()));
  }

  private start(): ExecutionEnvironment {
    if (this.isStopped) throw new Error('The function is stopped');
    const environment = this.options.start();
    this.all.add(environment);
    return environment;
  }
}
