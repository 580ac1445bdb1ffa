import http from 'node:http';

/** A request that some clients repeat, each after its response, together at most at a rate. */
export interface Load {
  url: string;
  adminKey: string;
  method: 'GET' | 'POST';
  body?: unknown;
  clients: number;
  perSecond: number;
}

// The clients of a neighbor in a separate process, whose work would otherwise delay the local stack. Sends its parent the number of
// successful requests after each load.
let isRunning = false;
let load: Promise<number> = Promise.resolve(0);

function send({ url, adminKey, method, body }: Load, agent: http.Agent): Promise<boolean> {
  const headers = {
    Authorization: `Bearer ${adminKey}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  };
  return new Promise((resolve) => {
    const request = http.request(url, { method, agent, headers }, (response) => {
      const isSuccess = (response.statusCode ?? 500) < 300;
      response.resume().on('end', () => resolve(isSuccess));
    });
    request.on('error', () => resolve(false)).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function run(given: Load): Promise<number> {
  const agent = new http.Agent({ keepAlive: true });
  const startedAt = performance.now();
  let next = 0;
  let successes = 0;
  const clients = Array.from({ length: given.clients }, async () => {
    while (isRunning) {
      const waitMs = startedAt + (1000 * next++) / given.perSecond - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (await send(given, agent)) successes++;
    }
  });
  await Promise.all(clients);
  agent.destroy();
  return successes;
}

process.on('message', async (message: Load | 'stop') => {
  isRunning = message !== 'stop';
  if (message === 'stop') process.send?.(await load);
  else load = run(message);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
