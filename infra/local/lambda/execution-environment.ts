import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Invocation, Result, WorkerMessage, WorkerSettings } from './lambda-worker.ts';

/**
 * Limits the young generation of each thread. V8 grows it with the load and does not release it, so threads grew to 50 to 85 MB
 * with 20 MB in use. The limit does not reduce the throughput.
 */
const YOUNG_GENERATION_MB = 12;

export interface EnvironmentOptions {
  settings: WorkerSettings;
  variables: Record<string, string>;
  memoryMb: number;
  /** Receives what the function prints. */
  print(text: string): void;
  /** The environment accepts no more invocations, because it was stopped, crashed, or ran out of memory or time. */
  ended(environment: ExecutionEnvironment): void;
}

/** An execution environment of a function. It is a thread that loads the code and runs one invocation at a time. */
export class ExecutionEnvironment {
  private readonly worker: Worker;
  private readonly options: EnvironmentOptions;
  /** Resolves when the code is loaded or has failed to load. */
  readonly ready: Promise<void>;
  private settle: ((result: Result) => void) | undefined;
  private isOver = false;

  constructor(options: EnvironmentOptions) {
    const { settings, variables, memoryMb, print } = options;
    this.options = options;
    this.worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
      workerData: settings,
      env: { ...variables, NODE_COMPILE_CACHE: settings.compileCache },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    for (const stream of [this.worker.stdout, this.worker.stderr]) stream.on('data', (chunk) => print(String(chunk)));
    this.worker.on('error', (error) => print(`${inspect(error)}\n`)); // any type of error, followed by "exit"
    this.ready = new Promise((resolve) => {
      this.worker.on('message', (message: WorkerMessage) => (message === 'ready' ? resolve() : this.settle?.(message)));
      this.worker.on('exit', () => {
        this.end();
        resolve();
        this.settle?.(EXITED);
      });
    });
  }

  /** Runs an invocation to its end. The timeout starts when the code is loaded, as on AWS. */
  async run(payload: string): Promise<Result> {
    await this.ready;
    if (this.isOver) return EXITED;
    const { settings, print } = this.options;
    const { timeoutMs } = settings;
    const requestId = randomUUID();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const text = `Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`;
        print(`${new Date().toISOString()} ${requestId} ${text}\n`);
        void this.stop();
        this.settle?.(failure('Sandbox.Timedout', text));
      }, timeoutMs);
      this.settle = (result) => {
        clearTimeout(timer);
        this.settle = undefined;
        resolve(result);
      };
      this.worker.postMessage({ requestId, payload } satisfies Invocation);
    });
  }

  /** Stops the environment immediately. */
  async stop(): Promise<void> {
    this.end();
    await this.worker.terminate();
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.options.ended(this);
  }
}

const failure = (name: string, message: string): Result => ({ error: { name, message } });
const EXITED = failure('Runtime.ExitError', 'The execution environment exited');
