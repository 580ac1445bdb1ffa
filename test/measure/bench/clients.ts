import http from 'node:http';

export interface ApiRequest {
  url: string;
  adminKey: string;
  method: 'GET' | 'POST';
  body?: unknown;
}

/** Concurrent clients, each of which waits for its response. */
export interface Clients {
  count: number;
  /** The maximum rate of all clients. */
  perSecond?: number | undefined;
}

/** Sends numbered requests until `isOver` is true for the next number. The first one is 0. */
export async function runClients(
  { count, perSecond = Number.POSITIVE_INFINITY }: Clients,
  isOver: (i: number) => boolean,
  send: (i: number, agent: http.Agent) => Promise<void>,
): Promise<void> {
  const agent = new http.Agent({ keepAlive: true }); // of this run, because the server closes idle connections
  const startedAt = performance.now();
  let next = 0;
  const clients = Array.from({ length: count }, async () => {
    while (!isOver(next)) {
      const i = next++;
      const waitMs = startedAt + (1000 * i) / perSecond - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      await send(i, agent);
    }
  });
  await Promise.all(clients);
  agent.destroy();
}

/** Returns the status code of the response. */
export function statusOf({ url, adminKey, method, body }: ApiRequest, agent: http.Agent): Promise<number> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const ofBody = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  const headers = { Authorization: `Bearer ${adminKey}`, ...(text && ofBody) };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject).end(text);
  });
}
