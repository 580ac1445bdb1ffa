import { beforeAll, expect, it } from 'vitest';
import { TEXTS } from '../../support/adversarial.ts';
import { changed } from '../../support/changed.ts';
import { listed, sync } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook } from '../../support/requests.ts';
import type { Answer, Client } from '../../support/service.ts';

const service = memoryService();
let live: Client;
let admin: Client;
let webhookId: string;
let key: string;

beforeAll(async () => {
  const project = await service.project();
  ({ admin } = project);
  live = await project.client('live');
  webhookId = (await createWebhook(live, 'https://example.com/')).id;
  key = (await admin('POST', '/v1/keys', { body: { type: 'read' } })).body.id;
});

/** A member of a request that contains text of a customer. */
interface Place {
  /** The member that a validation error names. */
  field: string | ((text: string) => string);
  accepts(text: string): boolean;
  send(text: string): Promise<Answer>;
  /** The violation of a rejected text. The default is the only one of a 400 response. */
  violation?(answer: Answer): { status: number; code: string; errors: object[] };
  /** The text as the API returns it, in every response that contains it. */
  read(answer: Answer, text: string): Promise<unknown[]>;
}

const isText = (text: string) => !/[\p{Cc}\p{Cs}]/u.test(text);
const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text);
const isSegment = (text: string) => /^[A-Za-z0-9._~@-]{1,64}$/.test(text);
const isToken = (text: string) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);

const webhook = (body: object) => live('PATCH', `/v1/webhooks/${webhookId}`, { body });
const webhookIn = async (name: 'description' | 'headers') => {
  const path = `/v1/webhooks/${webhookId}`;
  return [(await live('GET', path)).body[name], (await listed(live, '/v1/webhooks'))[0][name]];
};
const event = (member: string) => (text: string) =>
  live('POST', '/v1/events', {
    body: {
      type: 'document.deleted',
      data: { document_key: 'a', revision: 1, origin: 'n', [member]: text },
    },
  });
const eventIn = (member: string) => async (answer: Answer) => [
  answer.body.data[member],
  (await live('GET', `/v1/events/${answer.body.id}`)).body.data[member],
  (await listed(live, '/v1/events?limit=1'))[0].data[member],
];

const publishUnder = (key: string) =>
  live('POST', '/v1/events', { body: changed(), headers: { 'Idempotency-Key': key } });

const PLACES: Record<string, Place> = {
  'the name of a project': {
    field: 'name',
    accepts: (text) => isText(text) && !/(?![\u200c\u200d])\p{Cf}/u.test(text), // some scripts need joiners
    send: (name) => admin('PATCH', '/v1/project', { body: { name } }),
    read: async ({ body }) => [body.name, (await admin('GET', '/v1/project')).body.name],
  },
  'the name of a key': {
    field: 'name',
    accepts: isText,
    send: (name) => admin('PATCH', `/v1/keys/${key}`, { body: { name } }),
    async read({ body }) {
      const keys = await listed(admin, '/v1/keys');
      const [change] = await listed(admin, `/v1/audit?target=${key}&limit=1`);
      return [body.name, keys.find(({ id }) => id === key).name, change.detail.name];
    },
  },
  'the description of a webhook': {
    field: 'description',
    accepts: isText,
    send: (description) => webhook({ description }),
    read: async ({ body }) => [body.description, ...(await webhookIn('description'))],
  },
  'the secret of a webhook': {
    field: 'secret',
    accepts: (text) => isText(text) && text.trim() === text,
    send: (secret) =>
      live('POST', '/v1/webhooks', { body: { url: 'https://example.com/', events: ['sync.completed'], secret } }),
    async read({ body: { id, secret } }) {
      await live('DELETE', `/v1/webhooks/${id}`); // a project can have 100
      return [secret];
    },
  },
  'the name of a custom header': {
    field: (name) => `headers.${name}`,
    accepts: isToken,
    send: (name) => webhook({ headers: Object.fromEntries([[name, 'x']]) }),
    read: async ({ body }) => [body.headers, ...(await webhookIn('headers'))].flatMap(Object.keys),
  },
  'the value of a custom header': {
    field: 'headers.X',
    accepts: (text) => isAscii(text) && text.trim() === text,
    send: (value) => webhook({ headers: { X: value } }),
    read: async () => [], // masked in responses
  },
  'the document of an event': {
    field: 'data.document_key',
    accepts: isSegment,
    send: event('document_key'),
    read: eventIn('document_key'),
  },
  'another member of an event': {
    field: '',
    accepts: () => true,
    send: event('more'),
    read: eventIn('more'),
  },
  'a document key': {
    field: 'document_key',
    accepts: isSegment,
    violation({ body }) {
      const [{ code, detail }] = body.results; // a rejected push is part of a 200 response
      return { status: 400, code, errors: [{ field: /^Correct the push: (\w+) /.exec(detail)?.[1] }] };
    },
    send: (document_key) =>
      sync(live, { push: [{ op: 'put', document_key, base_revision: 0, fields: { document_key } }] }),
    async read({ body }) {
      const documentKey = body.results[0].document_key;
      const { body: document } = await live('GET', `/v1/documents/${encodeURIComponent(documentKey)}`);
      const documents = await listed(live, `/v1/documents?limit=100`);
      const found = documents.find(({ document_key }) => document_key === documentKey);
      return [documentKey, document.document_key, document.fields.document_key, found?.document_key];
    },
  },
  'the name of a node': {
    field: 'node_id',
    accepts: isAscii,
    send: (node_id) => live('PUT', '/v1/connections/c', { body: { node_id } }),
    read: async ({ body }) => [body.node_id],
  },
  'an idempotency key': {
    field: 'Idempotency-Key',
    accepts: isAscii,
    send: publishUnder,
    async read(answer, text) {
      const repeated = await publishUnder(text);
      return [repeated.body.id === answer.body.id ? text : repeated.text];
    },
  },
};

it.each(Object.entries(PLACES))('%s keeps each text unchanged, or rejects it and names it', async (_, place) => {
  const { field, accepts, send, read } = place;
  for (const text of TEXTS) {
    const answer = await send(text);
    const name = JSON.stringify(text);
    if (accepts(text)) {
      expect(answer.status, `${name} ${answer.text}`).toBeLessThan(300);
      for (const kept of await read(answer, text)) expect(kept, name).toBe(text);
    } else {
      const { errors, ...found } = place.violation?.(answer) ?? { ...answer.body, status: answer.status };
      expect(found, name).toMatchObject({ status: 400, code: 'invalid_request' });
      const fields = new Set(errors.map((violation: { field: string }) => violation.field)); // one can have several
      expect([...fields], name).toEqual([typeof field === 'string' ? field : field(text)]);
    }
  }
});
