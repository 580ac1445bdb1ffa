import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LocalClock } from './clock.ts';
import { ExecutionEnvironment } from './execution-environment.ts';
import type { LocalIam } from './iam.ts';
import type { WorkerSettings } from './lambda-worker.ts';
import type { Resource, Template } from './template.ts';

export interface FunctionProperties {
  Code: { S3Key: string };
  Handler: string;
  MemorySize: number;
  Timeout: number;
  Role: string;
  Environment?: { Variables: Record<string, string> };
  LoggingConfig: { LogGroup: string };
}

/** Of a synchronous invocation, in bytes of JSON (Lambda quotas: 6 MB). */
const MAX_REQUEST_BYTES = 6_291_456;
const LOG_ACTIONS = ['logs:CreateLogStream', 'logs:PutLogEvents'];

/** A function failed: threw, ran out of time or memory, or returned too much. `name` is Lambda's error type. */
export class FunctionError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

export interface LambdaOptions {
  clock: LocalClock;
  /** Added to the template's environment. */
  environment: Record<string, string>;
  /** Receives what functions print. */
  output: (functionId: string, text: string) => void;
  iam: Pick<LocalIam, 'allows'>;
  logGroupArn(name: string): string;
  /** Execution environments per function. */
  concurrency: number;
}

/** One function of the template: its bundled asset, in as many execution environments as are at work at once. */
export class LocalFunction {
  readonly id: string;
  /** The name of its role. */
  readonly role: string;
  private readonly settings: WorkerSettings;
  private readonly properties: FunctionProperties;
  private readonly options: LambdaOptions;
  private readonly environments = new Set<ExecutionEnvironment>();
  private readonly idle: ExecutionEnvironment[] = [];
  private readonly waiting: ((environment: ExecutionEnvironment) => void)[] = [];

  constructor(
    resource: Resource<FunctionProperties>,
    template: Pick<Template, 'directory' | 'arn'>,
    options: LambdaOptions,
  ) {
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

  /** The handler's response, as JSON carries it. Throws `FunctionError`. */
  async invoke(event: unknown): Promise<unknown> {
    const payload = JSON.stringify(event);
    if (Buffer.byteLength(payload) > MAX_REQUEST_BYTES) {
      throw new FunctionError('RequestTooLargeException', `Request must be smaller than ${MAX_REQUEST_BYTES} bytes`);
    }
    const environment = this.idle.pop() ?? (await this.acquire());
    const result = await environment.run(payload);
    this.release(environment);
    if ('error' in result) throw new FunctionError(result.error.name, result.error.message);
    return JSON.parse(result.payload);
  }

  /** Invocations that run now. */
  get busy(): number {
    return this.environments.size - this.idle.length;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.environments].map((environment) => environment.stop()));
  }

  /** Kills an execution environment that is at work, as a crash would. Returns whether there was one. */
  killOne(): boolean {
    const busy = [...this.environments].find((environment) => !this.idle.includes(environment));
    void busy?.stop();
    return busy !== undefined;
  }

  private acquire(): ExecutionEnvironment | Promise<ExecutionEnvironment> {
    if (this.environments.size < this.options.concurrency) return this.start();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private start(): ExecutionEnvironment {
    const { Environment, MemorySize } = this.properties;
    const environment = new ExecutionEnvironment({
      settings: this.settings,
      variables: {
        ...Environment?.Variables,
        ...this.options.environment,
        AWS_LAMBDA_FUNCTION_NAME: this.id,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
        AWS_ACCESS_KEY_ID: this.role,
      },
      memoryMb: MemorySize,
      print: (text) => this.print(text),
      ended: (each) => this.discard(each),
    });
    this.environments.add(environment);
    return environment;
  }

  // As CloudWatch Logs would: what the role may not write is nowhere.
  private print(text: string): void {
    const group = this.options.logGroupArn(this.properties.LoggingConfig.LogGroup);
    const mayWrite = LOG_ACTIONS.every((action) => this.options.iam.allows(this.role, action, group));
    if (mayWrite) this.options.output(this.id, text);
  }

  private release(environment: ExecutionEnvironment): void {
    if (!this.environments.has(environment)) return;
    const next = this.waiting.shift();
    if (next) next(environment);
    else this.idle.push(environment);
  }

  private discard(environment: ExecutionEnvironment): void {
    if (!this.environments.delete(environment)) return;
    const i = this.idle.indexOf(environment);
    if (i >= 0) this.idle.splice(i, 1);
    this.waiting.shift()?.(this.start());
  }
}

/** The asset in the assembly: CDK names it by the hash that the S3 key carries. */
export const assetOf = ({ Code }: Pick<FunctionProperties, 'Code'>): string =>
  `asset.${Code.S3Key.replace('.zip', '')}`;
