import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { changed } from '../../../support/changed.ts';
import { listening } from '../http.ts';
import { startMetered } from './metered.ts';
import { scaled, type Usage } from './usage.ts';

export interface Scenario {
  /** The number of events. */
  events: number;
  /** The events per request. */
  batch?: number;
  /** The concurrent requests. */
  together?: number;
  webhooks?: number;
  /** Whether each request has an `Idempotency-Key`. */
  idempotent?: boolean;
  /** Whether the requests are those of the publisher of the npm package: always batches, with an `Idempotency-Key`. */
  isPublisher?: boolean;
  /** The failed attempts of each delivery. */
  failures?: number;
}

/** Retries after hours run within milliseconds. */
const SPEED = 20_000;

/** Measures the usage of one event of a scenario, including its deliveries. */
export async function usageOf(
  assembly: string,
  {
    events,
    batch = 1,
    together = 1,
    webhooks = 1,
    failures = 0,
    isPublisher = false,
    idempotent = isPublisher,
  }: Scenario,
): Promise<Usage> {
  const endpoint = await listening(async (request, response) => {
    service.meter.delivered(Buffer.byteLength(await text(request)));
    response.writeHead(Number(request.headers['x-service-attempt']) <= failures ? 500 : 200).end();
  });
  const service = await startMetered(assembly, SPEED);
  const { meter, send, atRest } = service;
  const post = (path: string, body: object) =>
    send('POST', path, body, idempotent ? { 'Idempotency-Key': randomUUID() } : {});
  const event = (i: number) => changed({ document_key: `org:acme:doc-${i}` });
  const publish = (from: number) =>
    batch === 1 && !isPublisher
      ? post('/v1/events', event(from))
      : post('/v1/events/batch', { events: Array.from({ length: batch }, (_, i) => event(from + i)) });

  for (let i = 0; i < webhooks; i++)
    await post('/v1/webhooks', { url: endpoint.url, events: ['document.changed'], secret: 'bench secret' });
  // Endpoints move to the quick lane, and functions start.
  if (failures === 0) {
    for (let i = 0; i < 3; i++) {
      await publish(-1 - i);
      await atRest();
    }
  }
  meter.take();
  const storedBefore = await service.storedBytes();
  for (let published = 0; published < events; published += batch * together) {
    await Promise.all(Array.from({ length: together }, (_, i) => publish(published + i * batch)));
    await atRest();
  }
  const usage = { ...meter.take(), storedBytes: (await service.storedBytes()) - storedBefore };
  endpoint.close();
  await service.stop();
  return scaled(usage, 1 / events);
}
