import { expect } from 'vitest';
import type { LocalStack } from '../../../infra/local/stack.ts';
import { applyChange, type ChangeEvent, fieldsOf, type Replica } from '../../../lib/client/replica.ts';
import { eventually, request } from '../../support/service.ts';
import type { Work } from './upgrades/work.ts';

/** The state of the clients of the documents `replica:*`. */
export interface Replicas {
  /** A client with the revision of every document. */
  known: Map<string, { revision: number; fields: object }>;
  /** A client with a checkpoint. */
  checkpoint: string;
  /** A receiver of events with a copy of each document, by document key. */
  copies: Map<string, Replica>;
}

type Caller = Pick<Work, 'live'>;
const DOCUMENTS = ['replica:changed', 'replica:deleted', 'replica:same'];

async function send({ baseUrl }: LocalStack, { live }: Caller, method: string, path: string, body?: object) {
  const headers = { Authorization: `Bearer ${live}` };
  return request(baseUrl, method, path, body ? { body, headers } : { headers });
}

async function sync(stack: LocalStack, work: Caller, more: object) {
  const answer = await send(stack, work, 'POST', '/v1/sync', { node_id: 'n', pattern: 'replica:*', push: [], ...more });
  return answer;
}

/** The revisions of a client with a list. */
const knownOf = ({ known }: Replicas) => Object.fromEntries([...known].map(([key, { revision }]) => [key, revision]));

async function pull(stack: LocalStack, work: Caller, replicas: Replicas): Promise<void> {
  const { body } = await sync(stack, work, { known: knownOf(replicas) });
  for (const { document_key, revision, deleted, fields } of body.changes)
    if (deleted) replicas.known.delete(document_key);
    else replicas.known.set(document_key, { revision, fields });
  replicas.checkpoint = body.checkpoint;
}

/** Applies every event of the documents. */
async function receive(stack: LocalStack, work: Caller, { copies }: Replicas): Promise<void> {
  const { body } = await send(stack, work, 'GET', '/v1/events?limit=100');
  for (const event of body.data as (ChangeEvent & { data: { document_key?: string } })[]) {
    const key = event.data.document_key ?? '';
    if (key.startsWith('replica:')) copies.set(key, applyChange(copies.get(key), event));
  }
}

/** Documents that all clients have, before the time of the restore. */
export async function beginReplicas(stack: LocalStack, work: Caller): Promise<Replicas> {
  const replicas: Replicas = { known: new Map(), checkpoint: '', copies: new Map() };
  for (const key of DOCUMENTS)
    expect((await send(stack, work, 'PUT', `/v1/documents/${key}`, { fields: { text: 'kept' } })).status).toBe(201);
  await pull(stack, work, replicas);
  await receive(stack, work, replicas);
  return replicas;
}

/** Changes that the clients receive and that the restore loses. */
export async function loseWork(stack: LocalStack, work: Caller, replicas: Replicas): Promise<void> {
  for (const text of ['lost', 'lost too'])
    await send(stack, work, 'PATCH', '/v1/documents/replica:changed', { fields: { text, more: text } });
  await send(stack, work, 'DELETE', '/v1/documents/replica:deleted');
  await send(stack, work, 'PUT', '/v1/documents/replica:new', { fields: { text: 'lost' } });
  await pull(stack, work, replicas);
  await receive(stack, work, replicas);
  expect(replicas.known.get('replica:changed')).toMatchObject({ revision: 3, fields: { text: 'lost too' } });
  expect([...replicas.known.keys()].sort()).toEqual(['replica:changed', 'replica:new', 'replica:same']);
}

/** Makes other changes after the restore. Then every client follows the guide, and has the content of the service. */
export async function convergeReplicas(stack: LocalStack, work: Caller, replicas: Replicas): Promise<void> {
  for (const text of ['other', 'final'])
    await send(stack, work, 'PATCH', '/v1/documents/replica:changed', { fields: { text } });
  const expected = {
    'replica:changed': { text: 'final' },
    'replica:deleted': { text: 'kept' },
    'replica:same': { text: 'kept' },
  };

  const stale = await sync(stack, work, { since: replicas.checkpoint });
  expect([stale.status, stale.body.code]).toEqual([409, 'resync_required']);
  const { body } = await sync(stack, work, {});
  const all = body.changes.map(({ document_key, fields }: Record<string, string>) => [document_key, fields]);
  expect(Object.fromEntries(all)).toEqual(expected);
  const unchanged = await sync(stack, work, { since: body.checkpoint });
  expect(unchanged.status).toBe(200);

  await pull(stack, work, replicas);
  expect(Object.fromEntries([...replicas.known].map(([key, { fields }]) => [key, fields]))).toEqual(expected);
  expect(replicas.known.get('replica:changed')?.revision).toBeGreaterThan(1e11);

  // A receiver reads the documents again, and continues with events in any order.
  await eventually(async () => {
    await receive(stack, work, replicas);
    return fieldsOf(replicas.copies.get('replica:changed'))?.text === 'final';
  });
  const list = await send(stack, work, 'GET', '/v1/documents?prefix=replica&limit=100');
  replicas.copies = new Map(
    list.body.data.map(
      ({ document_key, revision, fields }: { document_key: string; revision: number; fields: object }) => [
        document_key,
        applyChange(undefined, { type: 'document.created', data: { document_key, revision, fields } }),
      ],
    ),
  );
  await send(stack, work, 'PATCH', '/v1/documents/replica:same', { fields: { text: 'later' } });
  await receive(stack, work, replicas);
  const copies = [...replicas.copies].map(([key, copy]) => [key, fieldsOf(copy)]);
  expect(Object.fromEntries(copies)).toEqual({ ...expected, 'replica:same': { text: 'later' } });
}
