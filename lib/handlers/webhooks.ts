import type { Deliveries } from '../aws/deliveries.ts';
import type { events as eventRecords } from '../aws/events.ts';
import type { Clock } from '../aws/sources.ts';
import type { webhooks as webhookRecords } from '../aws/webhooks.ts';
import type { Handlers } from '../dispatch.ts';
import { newEvent, sampleData } from '../events.ts';
import { type Random, sortableId } from '../ids.ts';
import { isJsonObject } from '../json.ts';
import type { QueueMessage } from '../messages.ts';
import { type CursorSecrets, page } from '../paging.ts';
import { notFound, Refusal } from '../problem.ts';
import type { BodyFaults } from '../request.ts';
import { type Targets, targetFaults } from '../targets.ts';
import {
  generateSecret,
  MAX_WEBHOOKS,
  SECRET_GRACE_MS,
  type WebhookChange,
  type WebhookRecord,
  webhookResource,
} from '../webhooks.ts';
import { deliveryHandlers } from './deliveries.ts';

export interface WebhooksDeps {
  webhooks: ReturnType<typeof webhookRecords>;
  deliveries: Deliveries;
  events: ReturnType<typeof eventRecords>;
  /** Hands messages to the deliveries queue. */
  enqueue(messages: readonly QueueMessage[]): Promise<void>;
  cursors: CursorSecrets;
  clock: Clock;
  random: Random;
}

/** What is wrong with the target of a webhook that is created or changed. */
export function webhookFaults(targets: Targets): { createWebhook: BodyFaults; changeWebhook: BodyFaults } {
  const faults: BodyFaults = (json) =>
    isJsonObject(json) && typeof json.url === 'string'
      ? targetFaults(json.url, targets).map((detail) => ({ field: 'url', detail }))
      : [];
  return { createWebhook: faults, changeWebhook: faults };
}

export function webhookHandlers(deps: WebhooksDeps): Handlers<'webhooks'> {
  const { webhooks, events, cursors, clock, random } = deps;
  return {
    async createWebhook({ body, space }, completing) {
      const now = clock();
      const { secret = generateSecret(random), ...given } = body;
      const id = sortableId('whk', now, random);
      const record: WebhookRecord = {
        ...space,
        id,
        ...given,
        secret,
        status: 'enabled',
        createdAt: now,
        updatedAt: now,
      };
      const reply = { body: { ...webhookResource(record), secret } };
      if (await webhooks.create(record, completing(reply))) return reply;
      return new Refusal('limit_reached', `A project has at most ${MAX_WEBHOOKS} webhooks in each environment.`);
    },

    listWebhooks: (request) =>
      page(request, cursors, async (limit, after) => {
        const found = await webhooks.list(request.space, limit, after);
        return { data: found.webhooks.map(webhookResource), next: found.next };
      }),

    async getWebhook({ path: { id = '' }, space }) {
      const webhook = await webhooks.get(space, id);
      return webhook ? { body: webhookResource(webhook) } : notFound('webhook');
    },

    async changeWebhook({ path: { id = '' }, body, space }) {
      const webhook = await webhooks.get(space, id);
      if (!webhook) return notFound('webhook');
      const change = changeOf(webhook, body, clock());
      if (!(await webhooks.change(space, id, change))) return notFound('webhook');
      return { body: webhookResource({ ...webhook, ...change }) };
    },

    async deleteWebhook({ path: { id = '' }, space }) {
      return (await webhooks.remove(space, id)) ? {} : notFound('webhook');
    },

    async rotateSecret({ path: { id = '' }, body, space }) {
      const webhook = await webhooks.get(space, id);
      if (!webhook) return notFound('webhook');
      const now = clock();
      const secret = body.secret ?? generateSecret(random);
      const change = {
        secret,
        previousSecret: webhook.secret,
        previousSecretUntil: now + SECRET_GRACE_MS,
        updatedAt: now,
      };
      if (!(await webhooks.change(space, id, change))) return notFound('webhook');
      return { body: { ...webhookResource({ ...webhook, ...change }), secret } };
    },

    async testWebhook({ path: { id = '' }, body: { type }, space }, completing) {
      if (!(await webhooks.get(space, id))) return notFound('webhook');
      const now = clock();
      const eventId = sortableId('evt', now, random);
      const reply = { body: { event_id: eventId } };
      const event = newEvent({ ...space, id: eventId, at: now, type, data: sampleData(type, now), webhookId: id });
      await events.publish([event], completing(reply));
      return reply;
    },

    ...deliveryHandlers(deps),
  };
}

// Only what is asked for changes; a status that it has already changes nothing.
function changeOf(webhook: WebhookRecord, asked: WebhookChange, now: number): Partial<WebhookRecord> {
  const { status, ...rest } = asked;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const change: Partial<WebhookRecord> = { ...given, updatedAt: now };
  if (status === undefined || status === webhook.status) return change;
  if (status === 'disabled') return { ...change, status, disabledAt: now, disabledReason: 'paused' };
  return {
    ...change,
    status,
    disabledAt: undefined,
    disabledReason: undefined,
    disabledBy: undefined,
    mailedAt: undefined,
  };
}
