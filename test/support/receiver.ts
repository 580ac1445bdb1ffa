import http from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { afterFile } from './after-file.ts';
import { listen } from './endpoints.ts';
import { openApi, violationsOf } from './openapi.ts';
import { eventually } from './service.ts';

export interface Received {
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The response to a request: a status code or a function. */
export type Behaviour =
  | number
  | ((response: http.ServerResponse, count: number, request: http.IncomingMessage) => void);

export interface TestReceiver {
  url: string;
  received: Received[];
  behave(behaviour: Behaviour): void;
  /** Resolves when that many requests have arrived. */
  until(count: number): Promise<Received[]>;
}

/** Returns the violations of a delivery by `webhooks` of the OpenAPI document, in its headers and body. */
export function faultsIn({ headers, body }: Received): string[] {
  const given = new Headers(headers);
  const type = given.get('X-Service-Event-Type') as keyof typeof openApi.webhooks;
  const delivery = openApi.webhooks[type]?.post;
  if (!delivery) return [`X-Service-Event-Type: ${type}`];
  const faults: string[] = [];
  const place = ['webhooks', type, 'post'] as const;
  for (const [i, { name, required, schema }] of delivery.parameters.entries()) {
    const value = given.get(name);
    if (value === null && required) faults.push(`${name} is missing`);
    if (value === null) continue;
    const typed = 'type' in schema && schema.type === 'integer' ? Number(value) : value;
    for (const fault of violationsOf(typed, ...place, 'parameters', i, 'schema')) faults.push(`${name} ${fault}`);
  }
  const content = [...place, 'requestBody', 'content', 'application/json', 'schema'] as const;
  for (const fault of violationsOf(JSON.parse(body), ...content)) faults.push(`${type} ${fault}`);
  return faults;
}

/** Starts an HTTP server until the tests of the file have ended. */
export async function startReceiver(behaviour: Behaviour = 200): Promise<TestReceiver> {
  let current = behaviour;
  const received: Received[] = [];
  const faults = new Set<string>();
  const server = http.createServer(async (request, response) => {
    const delivery = { headers: request.headers as Record<string, string>, body: await text(request) };
    received.push(delivery);
    for (const fault of faultsIn(delivery)) faults.add(fault);
    if (typeof current === 'number') response.writeHead(current).end();
    else current(response, received.length, request);
  });
  const port = await listen(server);
  afterFile(() => expect([...faults], 'every delivery is as the OpenAPI document describes it').toEqual([]));
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    behave(next) {
      current = next;
    },
    async until(count) {
      await eventually(() => received.length >= count);
      return received;
    },
  };
}
