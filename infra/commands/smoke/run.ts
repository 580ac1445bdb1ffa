import { randomBytes } from 'node:crypto';
import { cleanUp } from './clean-up.ts';
import { type Client, createClient } from './client.ts';
import type { Receiver } from './receiver.ts';

export interface Options {
  /** The base URL with the stage or base path, without a trailing slash. */
  baseUrl: string;
  adminKey: string;
  /** The URL at which the service can call the receiver. */
  receiver?: { url: string; at: Receiver } | undefined;
  /** The maximum time from an event to its delivery. */
  deliveryTimeoutMs: number;
  signal: AbortSignal;
  /** An additional certificate authority to trust. */
  ca?: string;
}

/** The tools of a check. The names of all resources that it creates start with the name of the run, in the sandbox. */
export interface Run extends Options {
  name: string;
  as(credential: string | null): Client;
  admin: Client;
  /** The client with a sandbox key. */
  test: Client;
  createKey(): Promise<{ id: string; key: string }>;
}

/** One requirement. It throws a readable message if the requirement fails, and does not depend on other checks. */
export interface Check {
  name: string;
  /** A precondition. Without it, the check is skipped. */
  needs?: 'https' | 'receiver';
  run(run: Run): Promise<void>;
}

export interface Result {
  /** The name of the check. */
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** The reason, unless the check passed. */
  reason: string;
}

export const BEGIN = 'Creates a sandbox key with the admin key';
export const CLEAN_UP = 'Deletes the resources of the run and revokes its keys';

/** Runs the checks sequentially and deletes the resources that they created, also after a failure or an interruption. */
export async function smoke(
  checks: readonly Check[],
  options: Options,
  report: (result: Result) => void,
): Promise<Result[]> {
  const name = `smoke-${randomBytes(4).toString('hex')}`;
  const as = (credential: string | null) => createClient(options, credential);
  const results: Result[] = [];
  const add = (name: string, outcome: Result['outcome'], reason = '') => {
    const result = { name, outcome, reason };
    results.push(result);
    report(result);
  };
  let run: Run | undefined;
  await attempt(BEGIN, async () => {
    run = await begin(name, as, options);
  });
  for (const check of checks) {
    const missing = missingFor(check, options);
    if (options.signal.aborted) add(check.name, 'skipped', 'interrupted');
    else if (!run) add(check.name, 'skipped', 'the run could not create a key');
    else if (missing !== undefined) add(check.name, 'skipped', missing);
    else await attempt(check.name, () => check.run(run as Run));
  }
  const { signal: _, ...rest } = options; // clean up after an interruption too
  await attempt(CLEAN_UP, () => cleanUp(name, createClient(rest, options.adminKey)));
  return results;

  async function attempt(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      add(name, 'passed');
    } catch (error) {
      if ((error as Error).name === 'AbortError') add(name, 'skipped', 'interrupted');
      else add(name, 'failed', (error as Error).message.split('\n')[0]);
    }
  }
}

async function begin(name: string, as: Run['as'], options: Options): Promise<Run> {
  const admin = as(options.adminKey);
  const createKey = async () => {
    const response = await admin('POST', '/v1/keys', { body: { type: 'test', name } });
    if (response.status !== 201) throw new Error(`${response.request}: ${response.status} ${response.text}`);
    return response.json;
  };
  const { key } = await createKey();
  return { ...options, name, as, admin, createKey, test: as(key) };
}

/** The precondition of a check that is not met, if there is one. */
function missingFor({ needs }: Check, { baseUrl, receiver }: Options): string | undefined {
  if (needs === 'https' && !baseUrl.startsWith('https:')) return '--base-url is not an https: URL';
  return needs === 'receiver' && !receiver ? '--receiver is missing' : undefined;
}
