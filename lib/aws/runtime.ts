import { randomBytes } from 'node:crypto';
import type { Variable } from '../deployment.ts';
import type { Random } from '../ids.ts';
import { type Log, log } from './log.ts';

/** Milliseconds since 1970. */
type Clock = () => number;

export const SETTINGS = {
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
} as const;
export type ClientSettings = typeof SETTINGS;

/** Everything below the service. Tests replace these members and nothing above them. */
export interface Runtime {
  /** The environment variables of the function. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Waits for milliseconds. */
  wait(ms: number): Promise<void>;
  /** Creates a client of the SDK. Its `send` is the seam between the service and AWS. */
  client<Type extends object>(type: new (settings: ClientSettings) => Type): Type;
}

/** The runtime of a Lambda function. */
export const lambda: Runtime = {
  variables: process.env,
  clock: () => Date.now(),
  random: randomBytes,
  log,
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  client: createClient,
};

/**
 * Creates a client of the SDK. A call that hangs ends early enough for another try, and long before the function's own time
 * limit. The client logs nothing, because the SDK would copy every input and output in a tenth of the time of a call.
 */
export function createClient<Type extends object>(type: new (settings: ClientSettings) => Type): Type {
  const client = new type(SETTINGS);
  const { middlewareStack } = client as { middlewareStack?: { remove(name: string): boolean } };
  middlewareStack?.remove('loggerMiddleware');
  return client;
}

/** Creates a client of the SDK when it is first used, because most execution environments of a function never use it. */
export function clientOnDemand<Type extends object>(
  runtime: Pick<Runtime, 'client'>,
  type: new (settings: ClientSettings) => Type,
): () => Type {
  let client: Type | undefined;
  return () => {
    client ??= runtime.client(type);
    return client;
  };
}

/** Reads a variable. Throws if it is missing, so that a function without it does not start. */
export function variable({ variables }: Pick<Runtime, 'variables'>, name: Variable): string {
  const value = variables[name];
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set`);
  return value;
}

/**
 * Reads a variable that the previous release does not set. `undefined` while CloudFormation has changed the code of a function and
 * not its variables, or the other way round after a rollback (infra/UPGRADES.md). Read it with `variable` in the next release.
 */
export const newVariable = ({ variables }: Pick<Runtime, 'variables'>, name: Variable): string | undefined =>
  variables[name];
