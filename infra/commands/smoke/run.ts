import { randomBytes } from 'node:crypto';
import { type Client, createClient, pagesOf } from './client.ts';
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

const BEGIN = 'Creates a sandbox key with the admin key';
export const CLEAN_UP = 'Deletes the resources of the run and revokes its keys';

/** Runs the checks sequentially and deletes the resources that they created, also after a failure or an interruption. */
export async function runChecks(
  checks: readonly Check[],
  options: Options,
  report: (result: Result) => void,
): Promise<Result[]> {
  const { baseUrl, adminKey, signal } = options;
  const name = `smoke-${randomBytes(4).toString('hex')}`;
  const as = (credential: string | null) => createClient(baseUrl, credential, signal);
  const results: Result[] = [];
  const add = (name: string, outcome: Result['outcome'], reason = '') => {
    results.push({ name, outcome, reason });
    report({ name, outcome, reason });
  };
  const attempt = async (name: string, work: () => Promise<void>) => {
    try {
      await work();
      add(name, 'passed');
    } catch (error) {
      if ((error as Error).name === 'AbortError') add(name, 'skipped', 'interrupted');
      else add(name, 'failed', (error as Error).message.split('\n')[0]);
    }
  };
  let run: Run | undefined;
  await attempt(BEGIN, async () => {
    const createKey = async () => {
      const response = await as(adminKey)('POST', '/v1/keys', { body: { type: 'test', name } });
      if (response.status !== 201) throw new Error(`${response.request}: ${response.status} ${response.text}`);
      return response.json;
    };
    run = { ...options, name, as, admin: as(adminKey), createKey, test: as((await createKey()).key) };
  });
  for (const check of checks) {
    const missing = missingFor(check, options);
    if (signal.aborted) add(check.name, 'skipped', 'interrupted');
    else if (!run) add(check.name, 'skipped', 'the run could not create a key');
    else if (missing !== undefined) add(check.name, 'skipped', missing);
    else await attempt(check.name, () => check.run(run as Run));
  }
  await attempt(CLEAN_UP, () => cleanUp(name, createClient(baseUrl, adminKey))); // after an interruption too
  return results;
}

/** The precondition of a check that is not met, if there is one. */
function missingFor({ needs }: Check, { baseUrl, receiver }: Options): string | undefined {
  if (needs === 'https' && !baseUrl.startsWith('https:')) return 'the base URL is not an https: URL';
  return needs === 'receiver' && !receiver ? '--receiver is missing' : undefined;
}

/** Deletes the resources of a run, including those whose response was lost. A revoked key remains in the list of keys. */
async function cleanUp(name: string, admin: Client): Promise<void> {
  const left: string[] = [];
  const remove = async (
    list: string,
    isOurs: (entry: Entry) => boolean,
    removal: (entry: Entry) => [string, string],
  ) => {
    const entries: Entry[] = [];
    for await (const { request, status, json } of pagesOf(admin, list)) {
      if (status === 200) entries.push(...json.data.filter(isOurs));
      else left.push(`${request}: ${status}`);
    }
    for (const entry of entries) {
      const { request, status } = await admin(...removal(entry));
      if (status >= 300 && status !== 404) left.push(`${request}: ${status}`);
    }
  };
  await remove(
    '/v1/webhooks?environment=sandbox&limit=100',
    ({ description }) => description === name,
    ({ id }) => ['DELETE', `/v1/webhooks/${id}?environment=sandbox`],
  );
  await remove(
    `/v1/documents?environment=sandbox&limit=100&prefix=${name}`,
    () => true,
    ({ document_key }) => ['DELETE', `/v1/documents/${document_key}?environment=sandbox`],
  );
  await remove(
    '/v1/keys?limit=100',
    (key) => key.name === name && key.status !== 'revoked',
    ({ id }) => ['POST', `/v1/keys/${id}/revoke`],
  );
  if (left.length > 0) throw new Error(`resources of ${name} are left: ${left.join('; ')}`);
}

interface Entry {
  id: string;
  name: string | null;
  status: string;
  description: string | null;
  document_key: string;
}
