import http from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import type { StackOptions } from '../../infra/local/stack.ts';
import { expectConformance } from './conformance.ts';
import { databaseEndpoint } from './database.ts';
import { startWatchedStack, type WatchedStack } from './watched-stack.ts';

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: responses are checked against the OpenAPI document, not by types
  body: any;
}

export interface Call {
  body?: unknown;
  headers?: Record<string, string>;
  /** The address of the caller, in 127.0.0.0/8. */
  from?: string;
}

/** Calls a service with one credential. */
export type Client = (method: string, path: string, call?: Call) => Promise<Answer>;

export interface Project {
  id: string;
  email: string;
  adminKey: string;
  admin: Client;
  /** Creates a key of that type. */
  key(type: 'live' | 'test' | 'read' | 'admin'): Promise<string>;
  /** Creates a client with a new key of that type. */
  client(type: 'live' | 'test' | 'read'): Promise<Client>;
}

export interface Service {
  readonly stack: WatchedStack;
  /** The output of functions since the tests of this file started. */
  readonly log: string[];
  as(credential: string | null): Client;
  /** `others` are addresses in addition to the first one, which the operator confirms too. */
  project(name?: string, others?: readonly string[]): Promise<Project>;
}

type Options = Omit<Partial<StackOptions>, 'output' | 'state' | 'monitor'>;
type Running = Pick<Service, 'stack' | 'log'> & { invalidRequests: string[] };

/** Options with which delays pass in 250 ms at most, and schedules at once. The second also makes failed messages visible immediately. */
export const FAST_DELAYS = { speed: 200_000 };
export const FAST = { ...FAST_DELAYS, visibilitySpeed: 2000 };

/** Stacks by options. They run until the worker ends, because a start costs more than all requests of most files. */
const stacks = new Map<string, Promise<Running>>();

async function start(options: Options): Promise<Running> {
  const log: string[] = [];
  const output = (id: string, text: string) => void log.push(text.replace(/^(?=.)/gm, `${id} `));
  const assembly = inject('assembly');
  const own = { assembly, databaseEndpoint: databaseEndpoint(), output };
  const stack = await startWatchedStack({ ...own, ...options });
  const invalidRequests: string[] = [];
  stack.endpoints.rejected = (request) => void invalidRequests.push(request);
  return { stack, log, invalidRequests };
}

/**
 * A local stack with real bundles and protocols. Files in one worker share it if they use the same options. A test creates its
 * own projects, and uses the clock of the stack.
 */
export function useService(options: Options = {}): Service {
  let running: Running;
  beforeAll(async () => {
    const key = JSON.stringify(options);
    const found = stacks.get(key) ?? start(options);
    stacks.set(key, found);
    running = await found;
    running.log.length = 0;
    running.invalidRequests.length = 0;
  });
  afterAll(() => {
    expect(running.invalidRequests, 'requests of the functions that AWS refuses').toEqual([]);
  });

  const as =
    (credential: string | null): Client =>
    async (method, path, call = {}) => {
      const answer = await request(running.stack.baseUrl, method, path, {
        ...call,
        headers: { ...(credential !== null && { Authorization: `Bearer ${credential}` }), ...call.headers },
      });
      expectConformance(method, path, answer, call.body);
      return answer;
    };

  return {
    get stack() {
      return running.stack;
    },
    get log() {
      return running.log;
    },
    as,
    async project(name = 'Test', others = []) {
      const email = [`${crypto.randomUUID()}@example.com`, ...others];
      const created = (await running.stack.invoke('CreateProject', { name, email })) as CreatedProject;
      return projectOf(created, as);
    },
  };
}

export interface CreatedProject {
  project: { id: string; email: string };
  admin_key: { id: string; key: string };
}

/** The clients of a new project. */
export function projectOf({ project, admin_key }: CreatedProject, as: Service['as']): Project {
  const admin = as(admin_key.key);
  const key = async (type: string): Promise<string> => {
    const answer = await admin('POST', '/v1/keys', { body: { type } });
    expect(answer.status, answer.text).toBe(201);
    return answer.body.key;
  };
  const client = async (type: string) => as(await key(type));
  return { id: project.id, email: project.email, adminKey: admin_key.key, admin, key, client };
}

export function request(baseUrl: string, method: string, path: string, { body, headers, from }: Call): Promise<Answer> {
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const all = {
    ...(payload !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const options = { method, headers: all, ...(from && { localAddress: from }) };
    const sent = http.request(baseUrl + path, options, async (response) => {
      const text = await textOf(response);
      const isJson = response.headers['content-type']?.includes('json');
      const parsed = isJson && text ? JSON.parse(text) : undefined;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed });
    });
    sent.on('error', reject).end(payload);
  });
}

/** Longer than the first retry of a delivery, which a busy machine can need. */
const PATIENCE_MS = 300_000;

/** Waits until `probe` returns a value, for effects after a response, such as a delivery. */
export async function eventually<T>(probe: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const value = await probe();
    if (value) return value as NonNullable<T>;
    if (performance.now() > deadline) throw new Error(`Still not the case after ${PATIENCE_MS} ms: ${probe}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
