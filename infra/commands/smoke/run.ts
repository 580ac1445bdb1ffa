import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { problemHeaders } from '../../../lib/http/headers.ts';
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode } from '../../../lib/http/problems.ts';

/** A request to the receiver of deliveries. */
export interface Received {
  /** The path and query. */
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

export interface Options {
  /** The base URL with the stage or base path, without a trailing slash. */
  baseUrl: string;
  adminKey: string;
  /** The URL at which the service can call the receiver, and what it received. */
  receiver?: { url: string; received: readonly Received[] } | undefined;
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

interface Response {
  status: number;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the checks verify its content
  json: any;
}

interface Call {
  /** Sends objects as JSON, and texts unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The headers that the response must have. */
  responds?: Record<string, string | RegExp>;
}

/** Calls the API with one credential. Throws unless the response has one of these statuses, or is this problem. */
type Client = (
  method: string,
  path: string,
  expected: number | readonly number[] | ProblemCode,
  call?: Call,
) => Promise<Response>;

export const CLEAN_UP = 'Deletes the resources of the run and revokes its keys';
/** API Gateway has a limit of 29 seconds. */
const TIMEOUT_MS = 35_000;

/** Runs the checks sequentially and deletes the resources that they created, also after a failure or an interruption. */
export async function* runChecks(checks: readonly Check[], options: Options): AsyncGenerator<Result> {
  const { baseUrl, adminKey, receiver, signal } = options;
  const name = `smoke-${randomBytes(4).toString('hex')}`;
  const as = (credential: string | null) => createClient(baseUrl, credential, signal);
  const admin = as(adminKey);
  const createKey = async () => (await admin('POST', '/v1/keys', 201, { body: { type: 'test', name } })).json;
  let run: Run | undefined;
  yield await attempt('Creates a sandbox key with the admin key', async () => {
    run = { ...options, name, as, admin, createKey, test: as((await createKey()).key) };
  });
  for (const check of checks) {
    const skip = (reason: string): Result => ({ name: check.name, outcome: 'skipped', reason });
    if (signal.aborted) yield skip('interrupted');
    else if (!run) yield skip('the run could not create a key');
    else if (check.needs === 'https' && !baseUrl.startsWith('https:')) yield skip('the base URL is not an https: URL');
    else if (check.needs === 'receiver' && !receiver) yield skip('--receiver is missing');
    else yield await attempt(check.name, () => check.run(run as Run));
  }
  yield await attempt(CLEAN_UP, () => cleanUp(name, createClient(baseUrl, adminKey))); // after an interruption too
}

async function attempt(name: string, work: () => Promise<void>): Promise<Result> {
  try {
    await work();
    return { name, outcome: 'passed', reason: '' };
  } catch (error) {
    const { name: kind, message } = error as Error;
    if (kind === 'AbortError') return { name, outcome: 'skipped', reason: 'interrupted' };
    return { name, outcome: 'failed', reason: message.split('\n')[0] ?? '' };
  }
}

/** After `signal` is aborted, requests fail with an AbortError. */
function createClient(baseUrl: string, credential: string | null, signal?: AbortSignal): Client {
  return async (method, path, expected, { body, headers, responds = {} } = {}) => {
    const request = `${method} ${path.split('?')[0]}`;
    const response = await fetch(baseUrl + path, {
      method,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
      headers: {
        ...(credential !== null && { Authorization: `Bearer ${credential}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }).catch((error: Error) => {
      if (signal?.aborted) throw error;
      throw new Error(`${request}: ${(error.cause as Error | undefined)?.message ?? error.message}`);
    });
    const { status } = response;
    const text = await response.text();
    const start = text.slice(0, 200);
    const problem = typeof expected === 'string' ? expected : undefined;
    const statuses = typeof expected === 'string' ? [PROBLEMS[expected].status] : [expected].flat();
    assert.ok(statuses.includes(status), `${request}: ${status} instead of ${statuses.join(' or ')}, ${start}`);
    const required = problem ? { 'Content-Type': PROBLEM_TYPE, ...problemHeaders(status), ...responds } : responds;
    for (const [header, value] of Object.entries(required)) {
      const actual = response.headers.get(header);
      const matches = typeof value === 'string' ? actual === value : value.test(actual ?? '');
      assert.ok(matches, `${request}: ${header} is ${actual === null ? 'missing' : `"${actual}"`}, not ${value}`);
    }
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
    const json = isJson ? JSON.parse(text || 'null') : undefined;
    if (problem !== undefined) {
      assert.ok(
        json?.code === problem && json.status === status,
        `${request}: the problem is ${start}, not ${problem}`,
      );
      assert.ok(json.type?.endsWith(`/docs/errors#${problem}`), `${request}: type ${json.type}`);
      const isSameId = json.request_id === response.headers.get('x-request-id');
      assert.ok(isSameId, `${request}: request_id differs from X-Request-Id`);
    }
    return { status, text, json };
  };
}

interface Entry {
  id: string;
  name: string | null;
  status: string;
  description: string | null;
  document_key: string;
}

/** Deletes the resources of a run, including those whose response was lost. A revoked key remains in the list of keys. */
async function cleanUp(name: string, admin: Client): Promise<void> {
  const left: string[] = [];
  /** `removal` returns the request that removes an entry of the list, or nothing for entries of others. */
  const remove = async (list: string, removal: (entry: Entry) => [method: string, path: string] | undefined) => {
    const requests: [string, string][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await admin('GET', cursor ? `${list}&cursor=${encodeURIComponent(cursor)}` : list, 200);
      requests.push(...json.data.map(removal).filter(Boolean));
      cursor = json.next_cursor ?? null;
    }
    for (const request of requests)
      await admin(...request, [200, 204, 404]).catch(({ message }: Error) => left.push(message));
  };
  const lists: Parameters<typeof remove>[] = [
    [
      '/v1/webhooks?environment=sandbox&limit=100',
      ({ id, description }) =>
        description === name ? ['DELETE', `/v1/webhooks/${id}?environment=sandbox`] : undefined,
    ],
    [
      `/v1/documents?environment=sandbox&limit=100&prefix=${name}`,
      ({ document_key }) => ['DELETE', `/v1/documents/${document_key}?environment=sandbox`],
    ],
    [
      '/v1/keys?limit=100',
      (key) => (key.name === name && key.status !== 'revoked' ? ['POST', `/v1/keys/${key.id}/revoke`] : undefined),
    ],
  ];
  for (const list of lists) await remove(...list).catch(({ message }: Error) => left.push(message));
  if (left.length > 0) throw new Error(`resources of ${name} are left: ${left.join('; ')}`);
}
