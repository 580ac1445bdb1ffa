import { changed } from '../../../support/changed.ts';
import { listening } from '../http.ts';
import { startMetered } from './metered.ts';
import { scaled, type Usage } from './usage.ts';

/** The content of the project: more of each kind than a page contains, except of webhooks and keys. */
const [WEBHOOKS, KEYS, DOCUMENTS, BATCHES, SINGLE_EVENTS] = [3, 10, 120, 2, 10];
const DOCUMENT = 'org:acme:doc-1';
/** The number of samples for the mean. */
const COUNT = 5;
/** Measures the usage of one request for each list of a project. */
export async function usageOfPolls(assembly: string): Promise<Record<string, Usage>> {
  const endpoint = await listening(async (request, response) => {
    request.resume();
    response.end();
  });
  const { meter, send, atRest, stop } = await startMetered(assembly, 1);
  const ids: string[] = [];
  for (let i = 0; i < WEBHOOKS; i++) {
    const webhook = { url: endpoint.url, events: ['document.changed'], secret: 'bench secret' };
    ids.push(idIn(await send('POST', '/v1/webhooks', webhook)));
  }
  await send('PATCH', `/v1/webhooks/${ids[0]}`, { status: 'disabled' });
  for (let i = 0; i < KEYS; i++) await send('POST', '/v1/keys', { type: 'live', name: `Key ${i}` });
  for (let i = 0; i < DOCUMENTS; i++) await send('PUT', `/v1/documents/org:acme:doc-${i}`, { fields: { title: 'a' } });
  const event = (i: number) => changed({ document_key: `org:acme:doc-${i % 3}` });
  const batch = { events: Array.from({ length: 100 }, (_, i) => event(i)) };
  for (let i = 0; i < BATCHES; i++) await send('POST', '/v1/events/batch', batch);
  let eventId = '';
  for (let i = 0; i < SINGLE_EVENTS; i++) eventId = idIn(await send('POST', '/v1/events', event(i)));
  await atRest();

  const log = `/v1/webhooks/${ids[1]}/deliveries?limit=100`;
  const lists = {
    events: '/v1/events?limit=100',
    'events of a type': '/v1/events?limit=100&type=document.created',
    'events of a document': `/v1/events?limit=100&document_key=${DOCUMENT}`,
    'events of a prefix': '/v1/events?limit=100&prefix=org:acme',
    'events of a prefix without events': '/v1/events?limit=100&prefix=org:none',
    'events with their outcomes': '/v1/events?limit=100&include=outcome',
    'deliveries of an event': `/v1/events/${eventId}/deliveries?limit=100`,
    'deliveries of a webhook': log,
    'deliveries of a document': `${log}&document_key=${DOCUMENT}`,
    'skipped deliveries of a webhook': `/v1/webhooks/${ids[0]}/deliveries?limit=100&status=skipped`,
    'deliveries of a type': `${log}&type=document.changed`,
    webhooks: '/v1/webhooks?limit=100',
    keys: '/v1/keys?limit=100',
    'audit log': '/v1/audit?limit=100',
    documents: '/v1/documents?limit=100',
    'documents of a prefix': '/v1/documents?limit=100&prefix=org:acme',
    stats: '/v1/stats',
    'count of a recovery': `/v1/webhooks/${ids[0]}/recover`,
  };
  const usage: Record<string, Usage> = {};
  for (const [name, path] of Object.entries(lists)) {
    meter.take();
    for (let i = 0; i < COUNT; i++) await send('GET', path);
    usage[name] = scaled(meter.take(), 1 / COUNT);
  }
  endpoint.close();
  await stop();
  return usage;
}

const idIn = (body: string): string => (JSON.parse(body) as { id: string }).id;
