import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { problemHeaders } from '../../../lib/http/headers.ts';
import { PROBLEM_TYPE, PROBLEMS, type ProblemCode } from '../../../lib/http/problems.ts';
import { request, send, type Target } from '../target.ts';

/** A request to the receiver of deliveries. */
export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export type Run = Awaited<ReturnType<typeof startRun>>;

/**
 * Creates the tools of the checks, with a sandbox key. The names of all resources that they create start with the name of the run,
 * in the sandbox. Throws `UserError` if the API cannot be reached or rejects the admin key.
 */
export async function startRun(target: Target, { receiver, signal }: Options) {
  const { baseUrl, key } = target;
  const name = `smoke-${randomBytes(4).toString('hex')}`;
  const as = (credential: string | null) => createClient(baseUrl, credential);
  const createKey = async () =>
    (await (await request(target, 'POST', '/v1/keys', { type: 'test', name })).json()) as { id: string; key: string };
  return { receiver, signal, baseUrl, name, as, admin: as(key), createKey, test: as((await createKey()).key) };
}

export interface Options {
  /** The URL at which the service can call the receiver, and what it received. */
  receiver?: { url: string; received: readonly Received[] } | undefined;
  signal: AbortSignal;
}

/** One requirement. It throws a readable message if the requirement fails, and does not depend on other checks. */
export interface Check {
  name: string;
  /** A precondition. Without it, the check is skipped. */
  needs?: 'https' | 'receiver';
  run(run: Run): Promise<void>;
}

interface Call {
  body?: object | string;
  headers?: Record<string, string>;
  /** The headers that the response must have. A pattern stands for all values that it matches. */
  responds?: Record<string, string | RegExp>;
}

/** Calls the API with one credential. Throws a readable message unless the response has one of these statuses, or is this problem. */
const createClient =
  (baseUrl: string, key: string | null) =>
  async (
    method: string,
    path: string,
    expected: number | readonly number[] | ProblemCode,
    { body, headers, responds = {} }: Call = {},
  ) => {
    const request = `${method} ${path.split('?')[0]}`;
    const response = await send({ baseUrl, key }, method, path, body, headers);
    const { status } = response;
    const text = await response.text();
    const header = (name: string) => response.headers.get(name);
    // biome-ignore lint/suspicious/noExplicitAny: the checks verify its content
    const json: any = /\bjson\b/.test(header('Content-Type') ?? '') ? JSON.parse(text || 'null') : undefined;
    const code = typeof expected === 'string' ? expected : undefined;
    const statuses = typeof expected === 'string' ? [PROBLEMS[expected].status] : [expected].flat();
    if (!statuses.includes(status))
      throw new Error(`${request}: ${status} instead of ${statuses.join(' or ')}, ${text.slice(0, 200)}`);
    const compare = (wanted: Record<string, unknown>, actual: (name: string) => unknown) => {
      for (const [name, value] of Object.entries(wanted)) {
        const found = actual(name) ?? 'missing';
        const isSame = value instanceof RegExp ? value.test(String(found)) : found === value;
        if (!isSame) throw new Error(`${request}: ${name} is ${found}, not ${value}`);
      }
    };
    compare(responds, header);
    if (code) {
      compare({ 'Content-Type': PROBLEM_TYPE, ...problemHeaders(status) }, header);
      const type = new RegExp(`/docs/errors#${code}$`);
      compare({ code, status, type, request_id: header('X-Request-Id') }, (name) => json?.[name]);
    }
    return { status, text, json };
  };
