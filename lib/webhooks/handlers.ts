import { auditing } from '../audit/store.ts';
import type { Backend } from '../aws/backend.ts';
import { optimistically } from '../concurrency.ts';
import { sampleData } from '../events/data.ts';
import { newEvent } from '../events/event.ts';
import { eventStore } from '../events/store.ts';
import { page } from '../http/page.ts';
import { notFound, Problem } from '../http/problems.ts';
import type { BodyViolations } from '../http/request.ts';
import type { Handlers } from '../http/serve.ts';
import { sortableId } from '../ids.ts';
import { isJsonObject } from '../json.ts';
import { cursorsOf } from '../projects/cursors.ts';
import { iso } from '../schema.ts';
import { applyChange } from './apply-change.ts';
import { type Backlog, NO_BACKLOG } from './condition.ts';
import { type AddressPolicy, normalizeUrl, urlViolations } from './endpoint-url.ts';
import type { webhookOperations } from './operations.ts';
import { generateSecret, rotated } from './signing.ts';
import { webhooks as webhooksIn } from './store.ts';
import { MAX_WEBHOOKS, type WebhookRecord, webhookResource } from './webhook.ts';

/** The violations of the URL of a webhook. */
export function webhookViolations(addressPolicy: AddressPolicy) {
  const ofUrl: BodyViolations = (json) =>
    isJsonObject(json) && typeof json.url === 'string'
      ? urlViolations(json.url, addressPolicy).map((detail) => ({ field: 'url', detail }))
      : [];
  return { createWebhook: ofUrl, changeWebhook: ofUrl };
}

/** Reads how many deliveries of a webhook its endpoint has not received. */
type BacklogOf = (webhookId: string) => Promise<Backlog>;

export function webhookHandlers(backend: Backend, backlogOf: BacklogOf): Handlers<typeof webhookOperations> {
  const { table, clock, random } = backend;
  const webhooks = webhooksIn(table);
  const events = eventStore(table);
  const cursors = cursorsOf(table, random);
  const audited = auditing(backend);

  return {
    async createWebhook(request, idempotencyWrites) {
      const { body, space } = request;
      const now = clock();
      const { secret = generateSecret(random), max_per_second: maxPerSecond, ...given } = body;
      const id = sortableId('whk', now, random);
      const record: WebhookRecord = {
        ...space,
        id,
        ...given,
        maxPerSecond: maxPerSecond ?? undefined,
        url: normalizeUrl(given.url),
        secret,
        status: 'enabled',
        createdAt: now,
        updatedAt: now,
      };
      const response = { body: { ...webhookResource(record, NO_BACKLOG), secret } };
      const detail = { environment: space.environment, events: record.events };
      const entry = audited(request, { at: now, action: 'webhook.created', target: id, detail });
      if ((await webhooks.create(record, [...idempotencyWrites(response), entry])) === 'created') return response;
      return new Problem(
        'limit_reached',
        `Delete a webhook first. A project can have at most ${MAX_WEBHOOKS} webhooks in each environment.`,
      );
    },

    listWebhooks: (request) =>
      page(request, cursors, async (limit, after) => {
        const listed = await webhooks.list(request.space, limit, after);
        const shown = listed.webhooks.map(async (webhook) => webhookResource(webhook, await backlogOf(webhook.id)));
        return { data: await Promise.all(shown), next: listed.next };
      }),

    async getWebhook({ path: { id }, space }) {
      const webhook = await webhooks.get(space, id);
      return webhook ? { body: webhookResource(webhook, await backlogOf(id)) } : notFound('webhook');
    },

    async changeWebhook(request) {
      const { path, body, space } = request;
      const backlog = await backlogOf(path.id); // nothing that can fail follows the change
      const changed = await applyChange(backend, space, path.id, body, (entry) => audited(request, entry));
      return changed instanceof Problem ? changed : { body: webhookResource(changed, backlog) };
    },

    async deleteWebhook(request) {
      const { path, space } = request;
      const { id } = path;
      const now = clock();
      const detail = { environment: space.environment };
      const entry = audited(request, { at: now, action: 'webhook.deleted', target: id, detail });
      return (await webhooks.remove(space, id, now, [entry])) ? {} : notFound('webhook');
    },

    async rotateSecret(request, idempotencyWrites) {
      const { path, body, space } = request;
      const { id } = path;
      const secret = body.secret ?? generateSecret(random);
      const rotation = { newSecret: secret, graceSeconds: body.grace_seconds };
      return optimistically(async () => {
        const webhook = await webhooks.get(space, id);
        if (!webhook) return notFound('webhook');
        const now = clock();
        const made = rotated(webhook, rotation, now);
        if (made.outcome !== 'rotated') return rejectedRotation(made);
        const change = { ...made.change, updatedAt: now };
        const response = { body: { ...webhookResource({ ...webhook, ...change }, await backlogOf(id)), secret } };
        const detail = { environment: space.environment };
        const entry = audited(request, { at: now, action: 'webhook.secret_rotated', target: id, detail });
        return (await webhooks.change(webhook, change, [...idempotencyWrites(response), entry])) ? response : undefined;
      });
    },

    async testWebhook({ path: { id }, body: { type, data: ownData }, space }, idempotencyWrites) {
      if (!(await webhooks.get(space, id))) return notFound('webhook');
      const now = clock();
      const data = ownData ?? sampleData(type, now);
      const event = newEvent({ ...space, at: now, type, data, webhookId: id }, random);
      const response = { body: { event_id: event.id } };
      await events.publish([event], idempotencyWrites(response));
      return response;
    },
  };
}

const rejectedRotation = (made: Exclude<ReturnType<typeof rotated>, { outcome: 'rotated' }>): Problem =>
  made.outcome === 'current'
    ? new Problem('conflict', 'Choose another secret. The webhook already has this one.')
    : new Problem(
        'limit_reached',
        `Rotate the secret again after ${iso(made.freeAt)}, or with grace_seconds 0. ${made.max} previous secrets still sign deliveries.`,
      );
