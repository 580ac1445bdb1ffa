import { listEvents, publishEvent, sync, verifyToken } from './client';

const { KEY, TOKEN = '' } = process.env;
const options = { headers: { Authorization: `Bearer ${KEY}` } };

const deleted = { document_key: 'org:acme:old', revision: 2, origin: 'generated-client' };
const published = await publishEvent({ type: 'document.deleted', data: deleted }, {}, options);
const push = { op: 'put', document_key: 'org:acme:new', base_revision: 0, fields: { title: 'New' } } as const;
const body = { node_id: 'generated-client', pattern: 'org:acme:*', push: [push], known: {} };
const synced = await sync(body, {}, options);
const page = await listEvents({}, options);
const checks = await Promise.all([TOKEN, 'no token'].map((token) => verifyToken({ token }, {}, options)));
if (published.status !== 202 || synced.status !== 200 || page.status !== 200) throw new Error('A request failed');
const events = page.data.data;

console.log(
  JSON.stringify({
    published: published.data.id,
    pushed: synced.data.results.map(({ revision }) => revision),
    listed: events.map(({ id }) => id),
    types: [...new Set(events.map(({ type }) => type))].sort(),
    fields: events.flatMap((event) =>
      event.type === 'document.changed' ? event.data.changes.map(({ field }) => field) : [],
    ),
    active: checks.map((check) => (check.status === 200 ? check.data.active : check.status)),
  }),
);
