import * as v from 'valibot';
import { KEY_TYPES } from '../../lib/credentials.ts';
import { EVENT_TYPES } from '../../lib/events/types.ts';
import type { DemoReceiver } from './demo-receiver.ts';
import type { LocalStack } from './stack.ts';

export const Demo = v.object({
  project: v.object({ id: v.string(), name: v.string(), email: v.string() }),
  keys: v.object(v.entriesFromList(KEY_TYPES, v.string())),
  webhook_secret: v.string(),
  receiver_port: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)),
});
export type Demo = v.InferOutput<typeof Demo>;

/** Creates a project with a key of each type, and a webhook to the demo receiver in each environment. */
export async function createDemo(stack: LocalStack, receiver: DemoReceiver, secret: string): Promise<Demo> {
  const created = await stack.invoke('CreateProject', { name: 'Demo', email: 'demo@example.com' });
  const { project, admin_key } = created as { project: Demo['project']; admin_key: { key: string } };
  const admin = admin_key.key;
  const keys: Demo['keys'] = { admin, live: '', test: '', read: '' };
  for (const type of ['live', 'test', 'read'] as const) {
    keys[type] = (await post(stack, admin, '/v1/keys', { type, name: `Demo ${type} key` })).key ?? '';
  }
  const webhook = {
    url: receiver.url,
    events: EVENT_TYPES,
    secret,
    description: 'Demo receiver in the terminal',
  };
  await Promise.all([keys.live, keys.test].map((key) => post(stack, key, '/v1/webhooks', webhook)));
  return { project, keys, webhook_secret: secret, receiver_port: receiver.port };
}

async function post(stack: LocalStack, key: string, path: string, body: unknown): Promise<{ key?: string }> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(stack.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
  return response.json() as Promise<{ key?: string }>;
}
