import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

type Event = components['schemas']['Event'];

const client = createClient<paths>({ baseUrl: 'https://api.example.com', headers: { Authorization: 'Bearer key' } });

/** The body in the README, which must be sufficient. */
export async function createWebhook(url: string): Promise<string> {
  const { data, error } = await client.POST('/v1/webhooks', { body: { url, events: ['document.changed'] } });
  if (data) return data.secret ?? '';
  return error.code === 'limit_reached' ? 'full' : error.detail;
}

export async function failures(webhookId: string): Promise<number> {
  const { data } = await client.GET('/v1/stats', { params: { query: { webhook_id: webhookId, by: 'day' } } });
  return (data?.data ?? []).reduce((sum, { attempts_failed }) => sum + attempts_failed, 0);
}

export async function* eventsOf(documentKey: string): AsyncGenerator<Event> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { document_key: documentKey, ...(cursor !== undefined && { cursor }) };
    const { data } = await client.GET('/v1/events', { params: { query } });
    yield* data?.data ?? [];
    cursor = data?.next_cursor ?? null;
  }
}

/** A received event, whose type determines its data. */
export function titleOf(event: Event): string {
  switch (event.type) {
    case 'document.created':
      return `${event.data.document_key}: ${Object.keys(event.data.fields).length} fields`;
    case 'document.changed':
      return event.data.changes.map(({ field }) => field).join();
    case 'document.deleted':
      return `${event.data.document_key} at ${event.data.revision}`;
    case 'sync.conflict':
      return event.data.conflicts.map(({ winner }) => winner.origin).join();
    case 'sync.completed':
      return event.data.node_id;
    case 'connection.lost':
      return event.data.lost_at;
  }
}
