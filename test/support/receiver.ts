import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect } from 'vitest';
import { faultsOf, openApi } from './openapi.ts';
import { eventually } from './service.ts';

export interface Received {
  headers: Record<string, string>;
  body: string;
}

/** Answers a request: with a status, or in any other way. */
export type Behaviour =
  | number
  | ((response: http.ServerResponse, count: number, request: http.IncomingMessage) => void);

export interface TestReceiver {
  url: string;
  received: Received[];
  behave(behaviour: Behaviour): void;
  /** Resolves once that many requests have come. */
  until(count: number): Promise<Received[]>;
}

const servers: http.Server[] = [];
const faults = new Set<string>();
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
  expect([...faults], 'every delivery is as the OpenAPI document describes it').toEqual([]);
});

/** Checks a delivery against `webhooks` of the OpenAPI document: the headers and the body. */
function checkDelivery({ headers, body }: Received): void {
  const type = headers['x-service-event-type'] as keyof typeof openApi.webhooks;
  const delivery = openApi.webhooks[type]?.post;
  if (!delivery) return void faults.add(`X-Service-Event-Type: ${type}`);
  const place = ['webhooks', type, 'post'] as const;
  for (const [i, { name, required, schema }] of delivery.parameters.entries()) {
    const value = headers[name.toLowerCase()];
    if (value === undefined && required) faults.add(`${name} is missing`);
    if (value === undefined) continue;
    const given = 'type' in schema && schema.type === 'integer' ? Number(value) : value;
    for (const fault of faultsOf(given, ...place, 'parameters', i, 'schema')) faults.add(`${name} ${fault}`);
  }
  const content = [...place, 'requestBody', 'content', 'application/json', 'schema'] as const;
  for (const fault of faultsOf(JSON.parse(body), ...content)) faults.add(`${type} ${fault}`);
}

/** A real HTTP server, until the tests of the file are over. */
export async function startReceiver(behaviour: Behaviour = 200): Promise<TestReceiver> {
  let current = behaviour;
  const received: Received[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const delivery = { headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() };
    received.push(delivery);
    checkDelivery(delivery);
    if (typeof current === 'number') response.writeHead(current).end();
    else current(response, received.length, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
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
