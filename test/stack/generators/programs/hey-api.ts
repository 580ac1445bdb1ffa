import { listEvents, publishEvent, sync, verifyToken } from './client';
import { client } from './client/client.gen';

const { BASE_URL, KEY, TOKEN = '' } = process.env;
client.setConfig({ baseUrl: BASE_URL, auth: KEY, throwOnError: true });

const deleted = { document_key: 'org:acme:old', revision: 2, origin: 'generated-client' };
const { data: published } = await publishEvent({ body: { type: 'document.deleted', data: deleted } });
const push = { op: 'put', document_key: 'org:acme:new', base_revision: 0, fields: { title: 'New' } } as const;
const body = { node_id: 'generated-client', pattern: 'org:acme:*', push: [push], known: {} };
const { data: synced } = await sync({ body });
const { data: page } = await listEvents();
const events = page?.data ?? [];
const checks = await Promise.all([TOKEN, 'no token'].map((token) => verifyToken({ body: { token } })));

console.log(
  JSON.stringify({
    published: published?.id,
    pushed: synced?.results.map(({ revision }) => revision),
    listed: events.map(({ id }) => id),
    types: [...new Set(events.map(({ type }) => type))].sort(),
    fields: events.flatMap((event) =>
      event.type === 'document.changed' ? event.data.changes.map(({ field }) => field) : [],
    ),
    active: checks.map(({ data }) => data?.active),
  }),
);
