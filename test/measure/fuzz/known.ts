import type { CallerType } from '../../../lib/api/operation.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish } from '../../support/requests.ts';
import type { Service } from '../../support/service.ts';

/** The existing resources for requests. */
export interface Known {
  /** `Authorization` headers. */
  bearers: Readonly<Record<CallerType, string>>;
  /** Ids by collection, such as `/v1/webhooks`. `DELETE /v1/webhooks` contains ids that requests can delete. */
  ids: Readonly<Record<string, readonly string[]>>;
  /** An endpoint on this machine, which replaces the endpoint of the examples. */
  endpointUrl: string;
}

const SPARES = 8;

/** Creates callers of every type, and resources in each collection of both environments. */
export async function createKnown(service: Service): Promise<Known> {
  const project = await service.project();
  const { url } = await startReceiver();
  const keys = { live: await project.key('live'), test: await project.key('test'), read: await project.key('read') };
  const live = service.as(keys.live);
  const mint = () => {
    const body = { documents: ['*'], permissions: ['read', 'write'], ttl: 3600 };
    return live('POST', '/v1/tokens', { body });
  };
  const webhooks: string[] = [];
  const events: string[] = [];
  for (const client of [live, service.as(keys.test)]) {
    webhooks.push((await createWebhook(client, url)).id);
    events.push((await publish(client)).body.id);
    await client('PUT', '/v1/documents/org:acme:doc-1', { body: { fields: { title: 'Draft' } } });
    await client('PUT', '/v1/connections/laptop-1', { body: { node_id: 'laptop' } });
  }
  const spareWebhooks: string[] = [];
  const spareKeys: string[] = [];
  for (let i = 0; i < SPARES; i++) {
    spareWebhooks.push((await createWebhook(live, url)).id);
    const { id, key } = (await project.admin('POST', '/v1/keys', { body: { type: 'live' } })).body;
    spareKeys.push(i % 2 === 0 ? id : key);
  }
  const credentials = { ...keys, admin: project.adminKey, token: (await mint()).body.token as string };
  const bearers = Object.entries(credentials).map(([type, credential]) => [type, `Bearer ${credential}`]);
  return {
    endpointUrl: url,
    bearers: Object.fromEntries(bearers),
    ids: {
      '/v1/keys': spareKeys,
      '/v1/tokens': [(await mint()).body.token_id],
      '/v1/webhooks': webhooks,
      'DELETE /v1/webhooks': spareWebhooks,
      '/v1/webhooks/*/deliveries': events,
      '/v1/events': events,
      '/v1/documents': ['org:acme:doc-1', 'org:acme:doc-2', 'org%3Aacme%3Adoc-1'],
      '/v1/connections': ['laptop-1', 'laptop-2'],
    },
  };
}
