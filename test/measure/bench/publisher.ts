import { publisher } from '../../../lib/client/publisher.ts';
import { changed } from '../../support/changed.ts';
import { runClients, statusOf } from './clients.ts';

export interface Publication {
  baseUrl: string;
  adminKey: string;
  events: number;
  /** The concurrent publishers, each of which waits for its response. Without it, the publisher of the npm package sends the events. */
  together?: number;
  /** The maximum rate of all publishers. */
  perSecond?: number;
}

// Publishes events in a separate process, so that its CPU time does not count as that of the local stack. Sends the number of
// failed requests to its parent.
let failures = 0;

const eventOf = (i: number) => changed({ document_key: `org:acme:doc-${i}` });

async function publishInBatches({ baseUrl, adminKey, events }: Publication): Promise<void> {
  const { publish, close } = await publisher({ baseUrl, credential: adminKey, onRetry: () => failures++ });
  for (let i = 0; i < events; i++) await publish(eventOf(i));
  failures += await close(60);
}

async function publishOneByOne({ baseUrl, adminKey, events, together = 1, perSecond }: Publication): Promise<void> {
  const isOver = (i: number) => i >= events;
  await runClients({ count: together, perSecond }, isOver, async (i, agent) => {
    const request = { url: `${baseUrl}/v1/events`, adminKey, method: 'POST', body: eventOf(i) } as const;
    if ((await statusOf(request, agent)) !== 202) failures++;
  });
}

process.on('message', async (publication: Publication) => {
  failures = 0;
  await (publication.together === undefined ? publishInBatches(publication) : publishOneByOne(publication));
  process.send?.(failures);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
