import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { LocalClock } from './clock.ts';
import type { LocalIam } from './iam.ts';
import type { Answer, WorkerSettings } from './lambda-worker.ts';
import type { Resource, Template } from './template.ts';

interface FunctionProperties {
  Code: { S3Key: string };
  Handler: string;
  MemorySize: number;
  Timeout: number;
  Role: string;
  Environment?: { Variables: Record<string, string> };
  LoggingConfig: { LogGroup: string };
}

const LOG_ACTIONS = ['logs:CreateLogStream', 'logs:PutLogEvents'];

/** A function failed: threw, ran out of time or memory. */
export class FunctionError extends Error {}

export interface LambdaOptions {
  clock: LocalClock;
  /** Added to the template's environment. */
  environment: Record<string, string>;
  /** Receives what functions print. */
  output: (functionId: string, text: string) => void;
  iam: LocalIam;
  logGroupArn(name: string): string;
  /** Execution environments per function. */
  concurrency: number;
}

/** One function of the template: its bundled asset in worker threads, each of which runs one invocation at a time. */
export class LocalFunction {
  readonly id: string;
  /** The name of its role. */
  readonly role: string;
  private readonly settings: WorkerSettings;
  private readonly properties: FunctionProperties;
  private readonly options: LambdaOptions;
  private readonly idle: Worker[] = [];
  private readonly workers = new Set<Worker>();
  private readonly waiting: ((worker: Worker) => void)[] = [];

  constructor(resource: Resource<FunctionProperties>, template: Template, options: LambdaOptions) {
    this.id = resource.id;
    this.properties = resource.properties;
    this.role = this.properties.Role.split('/').at(-1) ?? '';
    this.options = options;
    const [file, handler = ''] = this.properties.Handler.split('.');
    this.settings = {
      modulePath: pathToFileURL(join(template.directory, assetOf(this.properties), `${file}.mjs`)).href,
      handler,
      functionName: resource.id,
      functionArn: template.arn(resource.id),
      timeoutMs: this.properties.Timeout * 1000,
      clock: options.clock.shared,
    };
  }

  /** The handler's answer, as JSON would carry it. Throws `FunctionError`. */
  async invoke(event: unknown): Promise<unknown> {
    const worker = this.idle.pop() ?? (await this.acquire());
    const answer = await this.run(worker, event);
    if ('error' in answer) {
      throw Object.assign(new FunctionError(answer.error.message), { name: answer.error.name });
    }
    return answer.result;
  }

  /** Invocations that run now. */
  get busy(): number {
    return this.workers.size - this.idle.length;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.workers].map((worker) => worker.terminate()));
  }

  /** Kills an execution environment that is at work, as a crash would. Returns whether there was one. */
  killOne(): boolean {
    const busy = [...this.workers].find((worker) => !this.idle.includes(worker));
    void busy?.terminate();
    return busy !== undefined;
  }

  private acquire(): Worker | Promise<Worker> {
    if (this.workers.size < this.options.concurrency) return this.start();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private start(): Worker {
    const { Environment, MemorySize } = this.properties;
    const worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
      workerData: this.settings,
      env: {
        ...Environment?.Variables,
        ...this.options.environment,
        AWS_LAMBDA_FUNCTION_NAME: this.id,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
        AWS_ACCESS_KEY_ID: this.role,
      },
      resourceLimits: { maxOldGenerationSizeMb: MemorySize },
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    this.workers.add(worker);
    for (const stream of [worker.stdout, worker.stderr]) stream.on('data', (chunk) => this.print(String(chunk)));
    worker.on('error', (error) => this.options.output(this.id, `${error.stack}\n`)); // "exit" follows
    worker.on('exit', () => this.discard(worker));
    return worker;
  }

  // As CloudWatch Logs would: what the role may not write is nowhere.
  private print(text: string): void {
    const group = this.options.logGroupArn(this.properties.LoggingConfig.LogGroup);
    const mayWrite = LOG_ACTIONS.every((action) => this.options.iam.allows(this.role, action, group));
    if (mayWrite) this.options.output(this.id, text);
  }

  private run(worker: Worker, event: unknown): Promise<Answer> {
    return new Promise((resolve) => {
      const settle = (answer: Answer) => {
        clearTimeout(timer);
        worker.off('message', settle).off('exit', crashed);
        if (this.workers.has(worker)) this.release(worker);
        resolve(answer);
      };
      const crashed = () => settle(failure('Runtime.ExitError', 'The execution environment exited'));
      const timer = setTimeout(() => {
        this.discard(worker);
        void worker.terminate();
        settle(failure('Sandbox.Timedout', `Task timed out after ${this.properties.Timeout} seconds`));
      }, this.settings.timeoutMs);
      worker.on('message', settle).on('exit', crashed);
      worker.postMessage({ requestId: randomUUID(), event });
    });
  }

  private release(worker: Worker): void {
    const next = this.waiting.shift();
    if (next) next(worker);
    else this.idle.push(worker);
  }

  private discard(worker: Worker): void {
    if (!this.workers.delete(worker)) return;
    const i = this.idle.indexOf(worker);
    if (i >= 0) this.idle.splice(i, 1);
    this.waiting.shift()?.(this.start());
  }
}

const failure = (name: string, message: string): Answer => ({ error: { name, message } });

/** The asset in the assembly: CDK names it by the hash that the S3 key carries. */
export const assetOf = ({ Code }: Pick<FunctionProperties, 'Code'>): string =>
  `asset.${Code.S3Key.replace('.zip', '')}`;
