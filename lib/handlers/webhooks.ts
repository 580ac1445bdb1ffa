import { notFound, Refusal } from '../api/problems.ts';
import type { Deliveries } from '../aws/dynamodb/deliveries.ts';
import { ConflictError } from '../aws/dynamodb/errors.ts';
import type { events as eventRecords } from '../aws/dynamodb/events.ts';
import type { webhooks as webhookRecords } from '../aws/dynamodb/webhooks.ts';
import type { Clock } from '../aws/system.ts';
import type { QueueMessage } from '../delivery/messages.ts';
import { newEvent, sampleData } from '../events/events.ts';
import { type CursorSecrets, page } from '../http/pagination.ts';
import type { BodyFaults } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import { type Random, sortableId } from '../ids.ts';
import { isJsonObject } from '../json.ts';
import { check, iso, timestampInput } from '../schema.ts';
import { normalizeUrl, type Targets, targetFaults } from '../webhooks/endpoint-url.ts';
import {
  generateSecret,
  MAX_PREVIOUS_SECRETS,
  MAX_WEBHOOKS,
  type PreviousSecret,
  previousSecretsAt,
  SECRET_GRACE_MS,
  type WebhookChange,
  type WebhookRecord,
  webhookResource,
} from '../webhooks/webhooks.ts';
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

/** What is wrong with the URL of a webhook that is created or changed, and with the window of a recovery. */
export function webhookFaults(targets: Targets): Record<'createWebhook' | 'changeWebhook' | 'recover', BodyFaults> {
  const ofUrl: BodyFaults = (json) =>
    isJsonObject(json) && typeof json.url === 'string'
      ? targetFaults(json.url, targets).map((detail) => ({ field: 'url', detail }))
      : [];
  const ofWindow: BodyFaults = (json) => {
    const { since, until } = isJsonObject(json) ? json : {};
    const [first, last] = [since, until].map((time) => check(timestampInput, time));
    const isReversed = first && last && 'value' in first && 'value' in last && last.value < first.value;
    return isReversed ? [{ field: 'until', detail: 'must not be before since' }] : [];
  };
  return { createWebhook: ofUrl, changeWebhook: ofUrl, recover: ofWindow };
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
        url: normalizeUrl(given.url),
        secret,
        status: 'enabled',
        createdAt: now,
        updatedAt: now,
      };
      const reply = { body: { ...webhookResource(record), secret } };
      if ((await webhooks.create(record, completing(reply))) === 'created') return reply;
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
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const webhook = await webhooks.get(space, id);
        if (!webhook) return notFound('webhook');
        const changed = await webhooks.change(webhook, changeOf(webhook, body, clock()));
        if (changed) return { body: webhookResource(changed) };
      }
      throw new ConflictError('Gave up after too many changes of the webhook at the same time');
    },

    async deleteWebhook({ path: { id = '' }, space }) {
      return (await webhooks.remove(space, id)) ? {} : notFound('webhook');
    },

    async rotateSecret({ path: { id = '' }, body, space }, completing) {
      const secret = body.secret ?? generateSecret(random);
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const webhook = await webhooks.get(space, id);
        if (!webhook) return notFound('webhook');
        const now = clock();
        const signing = previousSecretsAt(webhook, now);
        if (signing.length >= MAX_PREVIOUS_SECRETS) return tooManySecrets(signing);
        const replaced = { secret: webhook.secret, until: now + SECRET_GRACE_MS };
        const change = { secret, previousSecrets: [replaced, ...signing], updatedAt: now };
        const reply = { body: { ...webhookResource({ ...webhook, ...change }), secret } };
        if (await webhooks.rotate(webhook, change, completing(reply))) return reply;
      }
      throw new ConflictError('Gave up after too many rotations at the same time');
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

/** Losing a race against another change means looking again. */
const MAX_TRIES = 10;

function tooManySecrets(signing: readonly PreviousSecret[]): Refusal {
  const next = iso(Math.min(...signing.map(({ until }) => until)));
  return new Refusal(
    'limit_reached',
    `${MAX_PREVIOUS_SECRETS} earlier secrets still sign, each for 24 hours: rotate again after ${next}.`,
  );
}

// Only what is asked for changes; a status that it has already changes nothing. A new endpoint, or one that comes back, has
// yet to show how quick it is.
function changeOf(webhook: WebhookRecord, asked: WebhookChange, now: number): Partial<WebhookRecord> {
  const { status, url, ...rest } = asked;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const unproven = { quickSince: undefined, slowUntil: undefined };
  const moved = url !== undefined && { url: normalizeUrl(url), ...(url !== webhook.url && unproven) };
  const change: Partial<WebhookRecord> = { ...given, ...moved, updatedAt: now };
  if (status === undefined || status === webhook.status) return change;
  if (status === 'disabled') return { ...change, status, disabledAt: now, disabledReason: 'paused' };
  return {
    ...change,
    ...unproven,
    status,
    disabledAt: undefined,
    disabledReason: undefined,
    disabledBy: undefined,
    emailedAt: undefined,
    emailingUntil: undefined,
  };
}
