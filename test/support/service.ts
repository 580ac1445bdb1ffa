import http from 'node:http';
import { afterAll, beforeAll, inject } from 'vitest';
import { type LocalStack, type StackOptions, startStack } from '../../infra/local/stack.ts';
import { expectConformance } from './conformance.ts';
import { databaseEndpoint } from './database.ts';

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
  /** The caller's address: any of 127.0.0.0/8. */
  from?: string;
}

/** Calls one service as one credential. */
export type Client = (method: string, path: string, call?: Call) => Promise<Answer>;

export interface Project {
  id: string;
  email: string;
  adminKey: string;
  admin: Client;
  /** A new key of that type. */
  key(type: 'live' | 'test' | 'read' | 'admin'): Promise<string>;
  /** A client with a new key of that type. */
  client(type: 'live' | 'test' | 'read'): Promise<Client>;
}

export interface Service {
  readonly stack: LocalStack;
  /** What functions printed since the start. */
  readonly log: string[];
  as(credential: string | null): Client;
  project(name?: string): Promise<Project>;
}

/** One local stack for the tests of a file: real bundles, real protocols. */
export function useService(options: Partial<StackOptions> = {}): Service {
  let stack: LocalStack;
  const log: string[] = [];
  beforeAll(async () => {
    const output = (id: string, text: string) => void log.push(text.replace(/^(?=.)/gm, `${id} `));
    stack = await startStack({
      assembly: inject('assembly'),
      databaseEndpoint: databaseEndpoint(),
      output,
      ...options,
    });
  });
  afterAll(() => stack?.stop());

  const as =
    (credential: string | null): Client =>
    async (method, path, call = {}) => {
      const answer = await request(stack.baseUrl, method, path, {
        ...call,
        headers: { ...(credential !== null && { Authorization: `Bearer ${credential}` }), ...call.headers },
      });
      expectConformance(method, path, answer);
      return answer;
    };

  return {
    get stack() {
      return stack;
    },
    log,
    as,
    async project(name = 'Test') {
      const email = `${crypto.randomUUID()}@example.com`;
      const created = (await stack.invoke('CreateProject', { name, email })) as {
        project: { id: string };
        admin_key: { key: string };
      };
      const adminKey = created.admin_key.key;
      const admin = as(adminKey);
      const key = async (type: string) => (await admin('POST', '/v1/keys', { body: { type } })).body.key as string;
      return { id: created.project.id, email, adminKey, admin, key, client: async (type) => as(await key(type)) };
    },
  };
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
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const isJson = response.headers['content-type']?.includes('json');
      const parsed = isJson && text ? JSON.parse(text) : undefined;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed });
    });
    sent.on('error', reject).end(payload);
  });
}

/** Waits until `probe` gives something: for what happens after an answer, such as a delivery. */
export async function eventually<T>(probe: () => T | Promise<T>, timeoutMs = 90_000): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value) return value as NonNullable<T>;
    if (performance.now() > deadline) throw new Error(`Still not the case after ${timeoutMs} ms: ${probe}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
