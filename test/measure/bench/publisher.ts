import http from 'node:http';
import { publisher } from '../../../lib/client/publisher.ts';
import { changed } from '../../support/changed.ts';

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

function publish({ baseUrl, adminKey }: Publication, agent: http.Agent, i: number): Promise<void> {
  const body = JSON.stringify(eventOf(i));
  const headers = {
    Authorization: `Bearer ${adminKey}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const request = http.request(`${baseUrl}/v1/events`, { method: 'POST', agent, headers }, (response) => {
      if (response.statusCode !== 202) failures++;
      response.resume().on('end', resolve);
    });
    request.on('error', reject).end(body);
  });
}

async function publishInBatches({ baseUrl, adminKey, events }: Publication): Promise<void> {
  const { publish, close } = await publisher({ baseUrl, credential: adminKey, onRetry: () => failures++ });
  for (let i = 0; i < events; i++) await publish(eventOf(i));
  failures += await close(60);
}

async function publishOneByOne(publication: Publication): Promise<void> {
  const { events, together = 1, perSecond = Number.POSITIVE_INFINITY } = publication;
  const agent = new http.Agent({ keepAlive: true }); // of this run, because the server closes idle connections
  const startedAt = performance.now();
  let next = 0;
  const publishers = Array.from({ length: together }, async () => {
    while (next < events) {
      const i = next++;
      const waitMs = startedAt + (1000 * i) / perSecond - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      await publish(publication, agent, i);
    }
  });
  await Promise.all(publishers);
  agent.destroy();
}

process.on('message', async (publication: Publication) => {
  failures = 0;
  await (publication.together === undefined ? publishInBatches(publication) : publishOneByOne(publication));
  process.send?.(failures);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
