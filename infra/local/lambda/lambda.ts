import { join } from 'node:path';
import type { Publish } from '../monitoring.ts';
import type { Resource, Template } from '../template.ts';
import type { LocalClock } from './clock.ts';
import { EnvironmentPool } from './environment-pool.ts';
import { ExecutionEnvironment } from './execution-environment.ts';
import type { Result, WorkerSettings } from './lambda-worker.ts';

export interface FunctionProperties {
  Code: { S3Key: string };
  Handler: string;
  MemorySize: number;
  Timeout: number;
  Role: string;
  Environment?: { Variables: Record<string, string> };
  LoggingConfig: { LogGroup: string };
}

/** The maximum number of execution environments per function, each of about 30 MB. Lambda starts many more. */
export const DEFAULT_CONCURRENCY = 16;
/** The maximum request of a synchronous invocation in bytes of JSON (Lambda quotas: 6 MB). */
export const MAX_REQUEST_BYTES = 6_291_456;

/** A failed invocation: an exception, a timeout, too little memory, or a rejected request. `name` is the error type. */
export class FunctionError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

export interface LambdaOptions {
  clock: LocalClock;
  /** Added to the environment variables of the template. */
  environment: Record<string, string>;
  /** Receives what functions print. */
  output: (functionId: string, text: string) => void;
  /** Receives the metrics of invocations. */
  publish: Publish;
  /** The maximum number of execution environments per function. More invocations wait for a free one. */
  concurrency: number;
  /** The functions that keep a spare environment. */
  spares?: ReadonlySet<string>;
}

/** A function of the template. It runs its bundled asset in one execution environment per concurrent invocation. */
export class LocalFunction {
  readonly id: string;
  /** The name of its role. */
  readonly role: string;
  private readonly settings: WorkerSettings;
  private readonly properties: FunctionProperties;
  private readonly options: LambdaOptions;
  private readonly environments: EnvironmentPool;

  constructor(resource: Resource<FunctionProperties>, template: Pick<Template, 'directory'>, options: LambdaOptions) {
    this.id = resource.id;
    this.properties = resource.properties;
    this.role = this.properties.Role.split('/').at(-1) ?? '';
    this.options = options;
    const [, handler = ''] = this.properties.Handler.split('.');
    this.settings = {
      modulePath: modulePathOf(template, this.properties),
      handler,
      functionName: resource.id,
      timeoutMs: this.properties.Timeout * 1000,
      clock: options.clock.shared,
      compileCache: join(template.directory, 'compile-cache'),
    };
    this.environments = new EnvironmentPool({
      maxSize: options.concurrency,
      keepsSpare: options.spares?.has(this.id) ?? false,
      start: () => this.start(),
    });
  }

  /** Returns the parsed response, or throws `FunctionError`. */
  async invoke(event: unknown): Promise<unknown> {
    const payload = JSON.stringify(event);
    if (Buffer.byteLength(payload) > MAX_REQUEST_BYTES) {
      throw new FunctionError('RequestTooLargeException', `Request must be smaller than ${MAX_REQUEST_BYTES} bytes`);
    }
    const result = await this.run(payload);
    const metric = { namespace: 'AWS/Lambda', name: 'Errors', dimensions: { FunctionName: this.id } };
    this.options.publish(metric, 'error' in result ? 1 : 0);
    if ('error' in result) throw new FunctionError(result.error.name, result.error.message);
    return JSON.parse(result.payload);
  }

  stop(): Promise<void> {
    return this.environments.stop();
  }

  private async run(payload: string): Promise<Result> {
    const environment = await this.environments.acquire();
    const result = await environment.run(payload);
    this.environments.release(environment);
    return result;
  }

  private start(): ExecutionEnvironment {
    const { Environment, MemorySize } = this.properties;
    return new ExecutionEnvironment({
      settings: this.settings,
      variables: {
        ...Environment?.Variables,
        ...this.options.environment,
        AWS_LAMBDA_FUNCTION_NAME: this.id,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
        AWS_ACCESS_KEY_ID: this.role,
      },
      memoryMb: MemorySize,
      print: (text) => this.options.output(this.id, text),
      ended: (environment) => this.environments.discard(environment),
    });
  }
}

/** The path of the handler module in the assembly. The name of its asset contains the hash in the S3 key. */
export function modulePathOf(
  { directory }: Pick<Template, 'directory'>,
  properties: Pick<FunctionProperties, 'Code' | 'Handler'>,
): string {
  const [file] = properties.Handler.split('.');
  return join(directory, `asset.${properties.Code.S3Key.replace('.zip', '')}`, `${file}.cjs`);
}
