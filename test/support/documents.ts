import { expect } from 'vitest';
import type { Role } from '../../lib/credentials.ts';
import { sessionIn } from '../../lib/keys/link-fragment.ts';
import type { Answer, Client } from './service.ts';

/** The error of a transaction that ran into another one, or whose condition was false. */
export const canceled = (Code: 'TransactionConflict' | 'ConditionalCheckFailed' | 'ThrottlingError') =>
  Object.assign(new Error(Code), { name: 'TransactionCanceledException', CancellationReasons: [{ Code }] });

export const code = ({ status, body }: Answer) => [status, body?.code];

export const put = (client: Client, key: string, fields: object, headers = {}) =>
  client('PUT', `/v1/documents/${key}`, { body: { fields }, headers });

export const get = async (client: Client, key: string) => (await client('GET', `/v1/documents/${key}`)).body;

/** The first page of a list. */
// biome-ignore lint/suspicious/noExplicitAny: responses are checked against the OpenAPI document, not by types
export const listed = async (client: Client, path: string): Promise<any[]> => (await client('GET', path)).body.data;

/** The data of each page of a list. The path ends with `?` and any filters. */
export async function pagesOf(client: Client, path: string): Promise<Answer['body'][][]> {
  const pages: Answer['body'][][] = [];
  for (let cursor = ''; ; ) {
    const { status, text, body } = await client('GET', path + cursor);
    expect(status, text).toBe(200);
    pages.push(body.data);
    if (body.next_cursor === null) return pages;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

export const sync = (client: Client, body: object = {}) =>
  client('POST', '/v1/sync', { body: { node_id: 'node-1', pattern: '*', push: [], known: {}, ...body } });

/** Starts a cycle from the checkpoint of an earlier one. */
export const resumeSync = (client: Client, since: string, more: object = {}) =>
  sync(client, { known: undefined, since, ...more });

/** The keys and revisions of the changes in a response to a sync. */
export const changesOf = ({ body }: Answer): string[] =>
  body.changes.map(
    ({ document_key, revision }: { document_key: string; revision: number }) => `${document_key} ${revision}`,
  );
export const checkpointOf = ({ body }: Answer): string => body.checkpoint;

/** Creates a dashboard link and returns the session that a browser takes from it. */
export async function openLink(client: Client, body: { role: Role } & Record<string, unknown>): Promise<string> {
  const answer = await client('POST', '/v1/dashboard-links', { body });
  expect(answer.status, answer.text).toBe(201);
  return sessionIn(new URL(answer.body.url).hash) ?? '';
}

export async function mint(
  client: Client,
  documents: string[],
  permissions: string[],
  ttl = 60,
  user?: string,
): Promise<string> {
  const answer = await client('POST', '/v1/tokens', { body: { documents, permissions, ttl, user } });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.token;
}
