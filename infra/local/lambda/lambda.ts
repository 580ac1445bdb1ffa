import { join } from 'node:path';
import type { Publish } from '../monitoring.ts';
import type { LocalIam } from '../services/iam.ts';
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
  ReservedConcurrentExecutions?: number;
}

/** The maximum number of execution environments per function, each of about 30 MB. Lambda starts many more. */
export const DEFAULT_CONCURRENCY = 16;
/** The maximum number of concurrent invocations in an account (Lambda quotas: 1,000 in a region, 10 in a new account). */
export const DEFAULT_ACCOUNT_CONCURRENCY = 1000;
/** The maximum request of a synchronous invocation in bytes of JSON (Lambda quotas: 6 MB). */
export const MAX_REQUEST_BYTES = 6_291_456;
const LOG_ACTIONS = ['logs:CreateLogStream', 'logs:PutLogEvents'];

/** A failed invocation: an exception, a timeout, too little memory, or a rejected request. `name` is the error type. */
export class FunctionError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** The error type of an invocation over the concurrency limit. */
export const THROTTLED = 'TooManyRequestsException';

/** The invocations that all functions of an account share. */
interface AccountConcurrency {
  limit: number;
  running: number;
}

export interface LambdaOptions {
  clock: LocalClock;
  /** Added to the environment variables of the template. */
  environment: Record<string, string>;
  /** Receives what functions print. */
  output: (functionId: string, text: string) => void;
  /** Receives the metrics of invocations. */
  publish: Publish;
  iam: Pick<LocalIam, 'allows'>;
  logGroupArn(name: string): string;
  account: AccountConcurrency;
  /** The maximum number of execution environments per function. More invocations wait for a free one. */
  concurrency: number;
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
  private running = 0;
  /** The maximum number of concurrent invocations, as set by `aws lambda put-function-concurrency`. */
  reservedConcurrency: number;

  constructor(
    resource: Resource<FunctionProperties>,
    template: Pick<Template, 'directory' | 'arn'>,
    options: LambdaOptions,
  ) {
    this.id = resource.id;
    this.properties = resource.properties;
    this.reservedConcurrency = this.properties.ReservedConcurrentExecutions ?? Number.POSITIVE_INFINITY;
    this.role = this.properties.Role.split('/').at(-1) ?? '';
    this.options = options;
    const [, handler = ''] = this.properties.Handler.split('.');
    this.settings = {
      modulePath: modulePathOf(template, this.properties),
      handler,
      functionName: resource.id,
      functionArn: template.arn(resource.id),
      timeoutMs: this.properties.Timeout * 1000,
      clock: options.clock.shared,
      compileCache: join(template.directory, 'compile-cache'),
    };
    this.environments = new EnvironmentPool({ maxSize: options.concurrency, start: () => this.start() });
  }

  /** Returns the parsed response, or throws `FunctionError`. */
  async invoke(event: unknown): Promise<unknown> {
    const payload = JSON.stringify(event);
    if (Buffer.byteLength(payload) > MAX_REQUEST_BYTES) {
      throw new FunctionError('RequestTooLargeException', `Request must be smaller than ${MAX_REQUEST_BYTES} bytes`);
    }
    const { account } = this.options;
    const isThrottled = this.running >= this.reservedConcurrency || account.running >= account.limit;
    this.publish('Throttles', isThrottled ? 1 : 0);
    if (isThrottled) throw new FunctionError(THROTTLED, 'Rate Exceeded.');
    this.running++;
    account.running++;
    const result = await this.run(payload).finally(() => {
      this.running--;
      account.running--;
    });
    this.publish('Errors', 'error' in result ? 1 : 0);
    if ('error' in result) throw new FunctionError(result.error.name, result.error.message);
    return JSON.parse(result.payload);
  }

  /** The number of invocations that run or wait for an execution environment. */
  get busy(): number {
    return this.running;
  }

  stop(): Promise<void> {
    return this.environments.stop();
  }

  private publish(name: string, value: number): void {
    this.options.publish({ namespace: 'AWS/Lambda', name, dimensions: { FunctionName: this.id } }, value);
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
      print: (text) => this.print(text),
      ended: (environment) => this.environments.discard(environment),
    });
  }

  // Discards lines that the role is not allowed to write, like CloudWatch Logs.
  private print(text: string): void {
    const group = this.options.logGroupArn(this.properties.LoggingConfig.LogGroup);
    const mayWrite = LOG_ACTIONS.every((action) => this.options.iam.allows(this.role, action, group));
    if (mayWrite) this.options.output(this.id, text);
  }
}

/** The asset in the assembly. Its name contains the hash in the S3 key. */
export const assetOf = ({ Code }: Pick<FunctionProperties, 'Code'>): string =>
  `asset.${Code.S3Key.replace('.zip', '')}`;

/** The path of the handler module in the assembly. */
export function modulePathOf(
  { directory }: Pick<Template, 'directory'>,
  properties: Pick<FunctionProperties, 'Code' | 'Handler'>,
): string {
  const [file] = properties.Handler.split('.');
  return join(directory, assetOf(properties), `${file}.cjs`);
}
