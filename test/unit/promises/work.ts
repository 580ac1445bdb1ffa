import { changed } from '../../support/changed.ts';
import { isRead } from '../../support/runtime.ts';
import { newSceneWithBudget, type Performed, type Scene, scenesOf, variablesOf } from './scene.ts';

/** What requests cause until all consumers are idle. */
export interface Work {
  /** Messages to queues, and schedules. */
  messages: number;
  /** Requests to endpoints. */
  posts: number;
  /** Items that did not exist before. */
  items: number;
  /** Emails, one for each recipient. */
  emails: number;
  /** Items that the table returned, and reads that found none. */
  reads: number;
}

/** Deliveries of the project in a minute, which few requests of the scene exceed. */
export const BUDGET = 60;
/** Webhooks that fail, more than the fan-out puts into one message. */
const FAILING = 11;
/** The webhooks that receive an event of the scene, at most. */
export const SUBSCRIBED = FAILING + 1;
/** The deliveries that a recovery finds. */
export const SKIPPED = 20;

const EVENTS = ['document.changed', 'document.deleted', 'sync.completed', 'sync.conflict', 'connection.lost'];

/** The endpoint of all webhooks of a busy scene that get its events. */
const FAILING_URL = 'https://failing.example.com/hook';

const newBusyScene = scenesOf(async () => {
  const scene = await newSceneWithBudget(BUDGET)();
  const { admin, service, webhook } = scene;
  const path = `/v1/webhooks/${webhook.id}`;
  await admin('PATCH', path, { body: { url: FAILING_URL, status: 'disabled' } });
  const events = Array.from({ length: SKIPPED }, () => changed({ document_key: 'w:5' }));
  await admin('POST', '/v1/events/batch', { body: { events } });
  await service.clock.advance(60_000);
  await admin('PATCH', path, { body: { status: 'enabled' } });
  for (let n = 0; n < FAILING; n++) await admin('POST', '/v1/webhooks', { body: { url: FAILING_URL, events: EVENTS } });
  return scene;
}, variablesOf(BUDGET));

/** A scene in which one request can cause much: webhooks that fail, and deliveries to recover. */
export async function busyScene(id: Performed): Promise<Scene> {
  const scene = await newBusyScene(id);
  scene.service.endpoint(500, FAILING_URL);
  return scene;
}

const nameOf = ({ pk, sk }: { pk?: unknown; sk?: unknown }) => `${pk} ${sk}`;

/** Counts the work that follows, until the returned function is called. */
export function countWork({ service }: Scene): () => Work {
  const work: Work = { messages: 0, posts: 0, items: 0, emails: 0, reads: 0 };
  const before = new Set([...service.db.items()].map(nameOf));
  const posts = () => service.log.filter((line) => line.includes('delivery.attempted')).length;
  const earlier = posts();
  service.faults.aroundAll = async ({ name, input }, act) => {
    if (name === 'SendMessageBatch') work.messages += input.Entries.length;
    if (name === 'CreateSchedule') work.messages++;
    if (name === 'SendEmail') work.emails++;
    const result = await act();
    if (isRead(name)) work.reads += Math.max(1, itemsIn(result));
    return result;
  };
  return () => {
    const items = [...service.db.items()].filter((item) => !before.has(nameOf(item))).length;
    return { ...work, items, posts: posts() - earlier };
  };
}

const itemsIn = ({ Items, Responses = {} }: { Items?: object[]; Responses?: Record<string, object[]> }): number =>
  (Items ?? Object.values(Responses).flat()).length;

/** The bytes of the largest item of each kind. */
export function largestItems({ service }: Scene): Record<string, number> {
  const largest: Record<string, number> = {};
  for (const item of service.db.items()) {
    const [kind = ''] = String(item.pk).split('#');
    largest[kind] = Math.max(largest[kind] ?? 0, Buffer.byteLength(JSON.stringify(item)));
  }
  return largest;
}
