import { type ApiRequest, type Clients, runClients, statusOf } from './clients.ts';

/** A request that clients repeat. */
export interface Load extends ApiRequest {
  clients: Clients;
}

// The clients of a neighbor in a separate process, whose work would otherwise delay the local stack. Sends its parent the number of
// successful requests after each load.
let isRunning = false;
let load: Promise<number> = Promise.resolve(0);

async function run({ clients, ...request }: Load): Promise<number> {
  let successes = 0;
  const isOver = () => !isRunning;
  await runClients(clients, isOver, async (_, agent) => {
    const status = await statusOf(request, agent).catch(() => 0);
    if (status >= 200 && status < 300) successes++;
  });
  return successes;
}

process.on('message', async (message: Load | 'stop') => {
  isRunning = message !== 'stop';
  if (message === 'stop') process.send?.(await load);
  else load = run(message);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
