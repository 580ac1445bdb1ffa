import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { causeOf } from '../../lib/client/publish-batch.ts';
import { EVENT_TYPES, type EventType } from '../../lib/events/types.ts';
import type { Violation } from '../../lib/schema.ts';
import { readJsonFile } from '../json-file.ts';
import { localDirectory } from '../project-root.ts';
import { UserError } from '../user-error.ts';
import type { Shell } from './command.ts';

/** API Gateway has a limit of 29 seconds. */
const TIMEOUT_MS = 35_000;

/** The API that a command calls, and the key. */
export interface Target {
  /** The base URL with the stage, without a trailing slash. */
  baseUrl: string;
  key: string;
}

/** The option of commands that use the running local stack by default. */
export const DIRECTORY_OPTION = {
  directory: { type: 'string', value: 'PATH', about: 'the --directory of the running local stack (.local)' },
} as const;

/** The local stack uses its own key, because the variable may contain a key of a deployment. */
export const KEY_DEFAULT = '(of the running local stack, or the variable DOCUMENT_SYNC_KEY)';

/** The options of commands that call the API. */
export const TARGET_OPTIONS = {
  'base-url': { type: 'string', value: 'URL', about: 'base URL of the API, with its stage (the running local stack)' },
  ...DIRECTORY_OPTION,
  key: { type: 'string', value: 'KEY', about: `live, test or admin key ${KEY_DEFAULT}` },
} as const;

const StackFile = v.object({
  base_url: v.pipe(v.string(), v.url()),
  invoke_token: v.string(),
  keys: v.object({ live: v.string(), admin: v.string() }),
});

/** Reads the file of the running local stack. Throws `UserError`, which names the option for another target. */
export function readStackFile(option: string, directory: string | undefined) {
  const file = join(directory ?? localDirectory, 'stack.json');
  const start = directory === undefined ? 'npm start' : `npm start -- --directory ${directory}`;
  if (!existsSync(file)) throw new UserError(`Pass ${option}, or start the local stack with \`${start}\`.`);
  return readJsonFile(file, StackFile, `Stop the local stack, and start it again with \`${start}\`.`);
}

/** The target of a command. Without a URL, it is the running local stack with a key of its demo project. Throws `UserError`. */
export function targetOf(
  { 'base-url': baseUrl, directory, key }: Partial<Record<'base-url' | 'directory' | 'key', string | undefined>>,
  type: 'live' | 'admin',
  variables: Shell['variables'],
): Target {
  if (baseUrl === undefined) {
    const { base_url, keys } = readStackFile('--base-url', directory);
    return { baseUrl: base_url, key: usable(key ?? keys[type]) };
  }
  requireUrl('base-url', baseUrl);
  const given = key ?? variables.DOCUMENT_SYNC_KEY;
  if (!given) throw new UserError('Pass a key, or set the environment variable DOCUMENT_SYNC_KEY.');
  return { baseUrl: baseUrl.replace(/\/+$/, ''), key: usable(given) };
}

/** A header cannot contain other characters, and the error of `fetch` would contain the key. */
function usable(key: string): string {
  if (/^[!-~]+$/.test(key)) return key;
  throw new UserError('The key is empty, or has a space, a line break or another character that no key has.');
}

export function requireUrl(option: string, text: string): void {
  if (!/^https?:/.test(text) || !URL.canParse(text)) throw new UserError(`--${option} must be an http: or https: URL.`);
  const { username, password } = new URL(text);
  if (username || password) throw new UserError(`--${option} must not contain credentials.`);
}

export function requireEventType(text: string): EventType {
  const type = EVENT_TYPES.find((each) => each === text);
  if (type) return type;
  throw new UserError(`The event type ${text} does not exist. The types are ${EVENT_TYPES.join(', ')}.`);
}

/** Calls the API. Sends objects as JSON, and texts unchanged. Throws `UserError` if there is no response. */
export function send(
  { baseUrl, key }: { baseUrl: string; key: string | null },
  method: string,
  path: string,
  body?: object | string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(baseUrl + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(key !== null && { Authorization: `Bearer ${key}` }),
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => {
    throw new UserError(`Cannot reach ${baseUrl}: ${reasonOf(error)}.`);
  });
}

/** Why a request has no response. */
export function reasonOf(error: Error): string {
  const { code = '' } = (error.cause ?? {}) as { code?: string };
  return REASONS[code] ?? (causeOf(error) || error.message);
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name does not exist',
  ETIMEDOUT: 'the connection timed out',
};

/** Calls the API, and returns a successful response. Throws `UserError` with the detail and the violations of a problem. */
export async function request(target: Target, method: string, path: string, body?: object): Promise<Response> {
  const response = await send(target, method, path, body);
  if (response.ok) return response;
  throw new UserError(`${method} ${path.split('?')[0]}: ${response.status} ${detailIn(await response.text())}`);
}

function detailIn(text: string): string {
  try {
    const { detail, message, errors = [] } = JSON.parse(text);
    const violations = errors.map((violation: Violation) => `${violation.field} ${violation.detail}.`);
    return [detail ?? message ?? text, ...violations].join(' ');
  } catch {
    return text;
  }
}
