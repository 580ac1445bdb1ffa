import {
  createWebhook,
  type DocumentChanged,
  type Event,
  type EventType,
  listEvents,
  type Problem,
  type Webhook,
} from './client';

const auth = 'key';
const TYPES: EventType[] = ['document.changed', 'connection.lost'];

/** The body in the README, which must be sufficient. */
export async function create(url: string): Promise<Webhook | Problem> {
  const { data, error } = await createWebhook({ auth, body: { url, events: TYPES } });
  return data ?? error;
}

export async function latestChange(documentKey: string): Promise<DocumentChanged | undefined> {
  const { data } = await listEvents({ auth, query: { document_key: documentKey } });
  return data?.data.find((event: Event) => event.type === 'document.changed');
}

export const fieldsOf = (event: Event): string[] =>
  event.type === 'document.changed' ? event.data.changes.map(({ field }) => field) : [];
