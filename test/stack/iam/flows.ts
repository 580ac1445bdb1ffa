import { expect } from 'vitest';
import { SLOW_AFTER_MS, SLOW_FOR_MS } from '../../../lib/deliveries/lanes.ts';
import { sendMessageTarget } from '../../../lib/deployment.ts';
import { SETTLE_MS } from '../../../lib/projects/deletion.ts';
import { EMAIL_WINDOW_MS, MAX_EMAILS } from '../../../lib/projects/email-budget.ts';
import { changed } from '../../support/changed.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { writeItems } from '../../support/items.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, deliveryOf, settled } from '../../support/requests.ts';
import { type Answer, type Client, eventually, type Project, type Service } from '../../support/service.ts';

const hasNext = (page: unknown): page is { next: object } => (page as { next: object | null }).next !== null;

/** Performs everything that each role is for. A flow throws if any part fails. */
export async function createFlows(service: Service): Promise<Record<string, () => Promise<void>>> {
  const { stack, log } = service;
  const project: Project = await service.project();
  const { admin } = project;
  const live = await project.client('live');
  const ok = async (answer: Promise<Answer>, ...statuses: number[]) => {
    const { status, text, body } = await answer;
    expect(statuses.length > 0 ? statuses : [200, 201, 202, 204], text).toContain(status);
    return body;
  };
  const key = () => ({ 'Idempotency-Key': crypto.randomUUID() });
  /** Runs a creating operation under an idempotency key: the first request, a replay, and a release after a problem. */
  const idempotent = async (client: Client, path: string, body: object) => {
    const call = { body, headers: key() };
    await ok(client('POST', path, call));
    expect((await client('POST', path, call)).headers['idempotency-replayed']).toBe('true');
  };
  const logged = async (act: () => Promise<unknown>, event: string | RegExp): Promise<void> => {
    const before = log.length;
    await act();
    await eventually(() => log.slice(before).some((line) => new RegExp(event).test(line)));
  };
  const queueNamed = (name: string) => {
    const found = stack.queues.get(name);
    if (!found) throw new Error(`No queue ${name}`);
    return found;
  };
  const drain = (name: string) => {
    const found = queueNamed(name).receive(10);
    for (const { receiptHandle } of found) queueNamed(name).delete(receiptHandle);
    return found.length;
  };

  /** Has no subscriber, so that no other webhook fails with it. */
  const creation = { type: 'document.created', data: { document_key: 'a', revision: 1, fields: {}, origin: 'n' } };
  const deletion = { type: 'document.deleted', data: { document_key: 'a', revision: 1, origin: 'n' } };
  const failing = await startReceiver(500);
  const sluggish = await startReceiver(
    (response) => void setTimeout(() => response.writeHead(200).end(), SLOW_AFTER_MS + 100),
  );
  const hook = await createWebhook(live, failing.url, { events: ['document.changed'] });
  const paused = await createWebhook(live, failing.url, { events: ['document.deleted'] });
  await live('PATCH', `/v1/webhooks/${paused.id}`, { body: { status: 'disabled' } });
  const publish = async (event: object = changed()) =>
    (await ok(live('POST', '/v1/events', { body: event }))).id as string;
  /** Enables the webhook until something has happened, because pending attempts can disable it again. */
  const enabled = (happens: () => Promise<boolean>) =>
    eventually(async () => {
      await ok(live('PATCH', `/v1/webhooks/${hook.id}`, { body: { status: 'enabled' } }));
      return happens();
    });

  const lost = {
    webhookId: 'whk_x',
    eventId: 'evt_x',
    projectId: project.id,
    environment: 'live',
    run: 0,
    attempt: 1,
    trigger: 'schedule',
  };

  /**
   * Publishes until the quick lane delivers to an endpoint. Test events do not help, because they use the lane of new endpoints.
   */
  const prove = async (webhookId: string, event: object): Promise<void> => {
    const hasAttempted = (lane: RegExp, id: string) =>
      log.some((line) => lane.test(line) && line.includes(id) && line.includes('attempted'));
    await eventually(async () => {
      const eventId = await publish(event);
      await eventually(() => deliveryOf(live, webhookId, eventId));
      // On a busy machine, an endpoint can be slow and stays in the slow lane for 10 minutes.
      if (hasAttempted(/^DeliveryDeliverSlow/, eventId)) stack.clock.advance(SLOW_FOR_MS);
      return hasAttempted(/^DeliveryDeliver[0-9A-F]{8} /, webhookId);
    });
  };

  /** Sends a message of each kind of attempt to a lane: with a retry in the queue, with a schedule, and the last one. */
  const lane = (queue: 'Deliveries' | 'NewDeliveries' | 'SlowDeliveries') => async () => {
    for (const attempt of [1, 3, 6]) {
      const endpoint = await startReceiver();
      const webhook = await createWebhook(live, endpoint.url, { events: [deletion.type], max_per_second: 500 });
      if (queue === 'Deliveries') await prove(webhook.id, deletion);
      endpoint.behave(500);
      const eventId = await publish(creation);
      const message = { ...lost, webhookId: webhook.id, eventId, attempt };
      const emails = stack.ses.emails.length;
      // Then no email of the window is used, and no check for a summary is under way.
      stack.clock.advance(EMAIL_WINDOW_MS);
      queueNamed(queue).send(JSON.stringify(message));
      const numbers = async (): Promise<number[]> =>
        ((await deliveryOf(live, webhook.id, eventId))?.attempts ?? []).map(({ number }: { number: number }) => number);
      await eventually(async () => (await numbers()).includes(attempt));
      if (attempt === 6)
        await eventually(() => stack.ses.emails.slice(emails).some(({ text }) => text.includes(webhook.id)));
      else await eventually(async () => (await numbers()).includes(attempt + 1));
      await ok(live('DELETE', `/v1/webhooks/${webhook.id}`));
    }
    await logged(async () => queueNamed(queue).send(JSON.stringify(lost)), 'delivery.not_attempted');
    await eventually(() => queueNamed(queue).counts().inFlight === 0);
  };

  /** Sends a message for a slow endpoint to a faster lane. */
  const handOn = async (queue: 'Deliveries' | 'NewDeliveries'): Promise<void> => {
    const webhook = await createWebhook(live, sluggish.url, { events: ['sync.conflict'] });
    const { event_id } = await ok(live('POST', `/v1/webhooks/${webhook.id}/test`));
    await eventually(() => deliveryOf(live, webhook.id, event_id));
    const eventId = await publish();
    queueNamed(queue).send(JSON.stringify({ ...lost, webhookId: webhook.id, eventId }));
    await eventually(() => deliveryOf(live, webhook.id, eventId));
    await ok(live('DELETE', `/v1/webhooks/${webhook.id}`));
  };

  const flows: Record<string, () => Promise<void>> = {
    Authorize: async () => {
      const created = await ok(admin('POST', '/v1/keys', { body: { type: 'read' } }));
      await ok(service.as(created.key)('GET', '/v1/documents'));
      expect((await ok(admin('GET', `/v1/keys/${created.id}`))).last_used_at).not.toBe(null);
      await ok(service.as('unknown')('GET', '/v1/documents'), 401);
    },
    Keys: async () => {
      await idempotent(admin, '/v1/keys', { type: 'live' });
      const { id } = await ok(admin('POST', '/v1/keys', { body: { type: 'admin' } }));
      expect((await ok(admin('GET', '/v1/keys?limit=1'))).next_cursor).not.toBe(null);
      await ok(admin('POST', `/v1/keys/${id}/allowlist`, { body: { cidrs: [] } }));
      const headers = key();
      await ok(admin('POST', '/v1/keys', { body: { type: 'live', expires_at: '2020-01-01T00:00:00Z' }, headers }), 400);
      await ok(admin('POST', '/v1/keys', { body: { type: 'live' }, headers }), 201);
      await ok(admin('POST', `/v1/keys/${id}/revoke`));
    },
    Tokens: async () => {
      const body = { documents: ['*'], permissions: ['read'], ttl: 60 };
      await idempotent(live, '/v1/tokens', body);
      const headers = key();
      const long = Array.from({ length: 32 }, (_, i) => `${'a'.repeat(60)}:${i}`);
      await ok(live('POST', '/v1/tokens', { body: { ...body, documents: long }, headers }), 400);
      const { token, token_id } = await ok(live('POST', '/v1/tokens', { body, headers }), 201);
      await ok(live('POST', '/v1/tokens/verify', { body: { token } }));
      await ok(live('POST', `/v1/tokens/${token_id}/revoke`));
    },
    Project: async () => {
      await ok(admin('GET', '/v1/audit?limit=1'));
      const emails = ['renamed@example.com'];
      await ok(admin('PATCH', '/v1/project', { body: { name: 'Renamed', emails } }));
      await ok(admin('PATCH', '/v1/project', { body: { name: '' } }), 400);
      await ok(admin('POST', '/v1/project/test-mail'));
    },
    SenderEmailEvents: async () => {
      const { id, admin: customer } = await service.project();
      const emails = ['bounce@example.com', 'complaint@example.com', 'works@example.com'];
      await ok(customer('PATCH', '/v1/project', { body: { emails } }));
      await ok(customer('POST', '/v1/project/test-mail'));
      await eventually(async () => (await ok(customer('GET', '/v1/project'))).undeliverable_emails.length === 2);
      for (let i = 0; i < MAX_EMAILS; i++) await ok(customer('POST', '/v1/keys', { body: { type: 'admin' } }));
      stack.clock.advance(EMAIL_WINDOW_MS);
      // At this speed, a check can run before the emails it would summarize are stored. The next email starts another check.
      await ok(customer('POST', '/v1/keys', { body: { type: 'admin' } }));
      await eventually(() => stack.ses.emails.some(({ subject }) => subject === `Summary of notifications (${id})`));
    },
    Events: async () => {
      const id = await publish();
      await ok(live('GET', `/v1/events/${id}`));
      const { next_cursor } = await ok(live('GET', '/v1/events?limit=1'));
      await ok(live('GET', `/v1/events?limit=1&cursor=${next_cursor}`));
      await idempotent(live, '/v1/events', changed());
      const headers = key();
      await ok(live('POST', '/v1/events', { body: changed({ note: 'x'.repeat(300_000) }), headers }), 413);
      await ok(live('POST', '/v1/events', { body: changed(), headers }), 202);
    },
    Webhooks: async () => {
      await idempotent(live, '/v1/webhooks', { url: 'https://example.com/', events: ['sync.completed'] });
      const { data } = await ok(live('GET', '/v1/webhooks'));
      const { next_cursor } = await ok(live('GET', '/v1/webhooks?limit=1'));
      await ok(live('GET', `/v1/webhooks?limit=1&cursor=${next_cursor}`));
      await ok(live('GET', `/v1/webhooks/${hook.id}/deliveries?document_key=a`));
      await ok(live('GET', `/v1/stats?webhook_id=${hook.id}`));
      for (const { id, url } of data)
        if (url === 'https://example.com/') await ok(live('DELETE', `/v1/webhooks/${id}`));
      const { event_id } = await ok(live('POST', `/v1/webhooks/${hook.id}/test`));
      await eventually(() => deliveryOf(live, hook.id, event_id));
      await ok(live('GET', `/v1/webhooks/${hook.id}/deliveries`));
      await ok(live('GET', `/v1/webhooks/${hook.id}/recover`));
      await ok(live('GET', '/v1/webhooks/unknown'), 404);
      const missing = `${hook.id.slice(0, -1)}${hook.id.endsWith('0') ? '1' : '0'}`;
      await ok(live('POST', `/v1/webhooks/${missing}/test`, { headers: key() }), 404);
      await ok(live('GET', `/v1/events/${event_id}/deliveries`));
      const redeliver = `/v1/webhooks/${hook.id}/deliveries/${event_id}/redeliver`;
      await enabled(async () => (await live('POST', redeliver)).status === 202);
    },
    Documents: async () => {
      const document = `d:${crypto.randomUUID()}`;
      await ok(live('PUT', `/v1/documents/${document}`, { body: { fields: { a: 1 } } }));
      await ok(live('PUT', `/v1/documents/${document}:2`, { body: { fields: { a: 1 } } }));
      expect((await ok(live('GET', '/v1/documents?limit=1'))).next_cursor).not.toBe(null);
      await ok(live('DELETE', `/v1/documents/${document}`));
      await ok(live('GET', `/v1/documents/${document}`), 404);
      const cycle = { node_id: 'n', sync_id: crypto.randomUUID(), pattern: document, push: [], known: {} };
      await ok(live('POST', '/v1/sync', { body: cycle }));
      await ok(live('PUT', `/v1/connections/${document.slice(2)}`, { body: { node_id: 'n', lease_seconds: 10 } }));
      await ok(live('DELETE', `/v1/connections/${document.slice(2)}`));
    },
    Dashboard: () => ok(service.as(null)('GET', '/dashboard')),
    ConnectionsCheck: async () => {
      const found = (id: string, result: string) =>
        log.some((line) => line.includes(id) && line.includes(`"result":"${result}"`));
      const id = crypto.randomUUID();
      const renew = (lease_seconds: number) =>
        ok(live('PUT', `/v1/connections/${id}`, { body: { node_id: 'n', lease_seconds } }));
      // At this speed, a check can run before its record is written. The second check then finds the record of the first.
      for (const lease_seconds of [900, 10]) await renew(lease_seconds);
      await eventually(() => found(id, 'open'));
      // For the same reason, the record of the second can have no check until a renewal after its lease sends another one.
      await eventually(async () => {
        stack.clock.advance(11_000);
        if (found(id, 'lost')) return true;
        await renew(10);
        return false;
      });
    },
    CreateProject: async () => {
      await logged(
        () => stack.invoke('CreateProject', { name: 'Another', email: 'another@example.com' }),
        'project.created',
      );
    },
    Projects: async () => {
      const name = 'Leaving';
      const leaving = await service.project(name);
      const { id } = leaving;
      const customer = await leaving.client('live');
      const webhook = await createWebhook(customer, failing.url);
      const partitions = [
        `EMAILS#${id}`,
        ...['DOCS', 'REVISIONS', 'EVENT', 'CONNECTION', 'SYNC', 'IDEMPOTENCY'].map((kind) => `${kind}#${id}#live#x`),
        ...['HOOK', 'FIGURES', 'SLOTS'].map((kind) => `${kind}#${webhook.id}`),
      ];
      const run = (operation: string, more = {}) => stack.invoke('Projects', { operation, id, ...more });
      await stack.invoke('Projects', { operation: 'list' });
      const { id: eventId } = await ok(customer('POST', '/v1/events', { body: changed() }));
      await settled(customer, webhook.id, eventId);
      expect(await run('enable-webhooks', { since: '2020-01-01T00:00:00Z' })).toMatchObject({ webhooks: 1 });
      await run('suspend');
      await run('resume');
      await run('create-key');
      for (let page = await run('export'); hasNext(page); ) page = await run('export', { after: page.next });
      await writeItems(
        stack,
        databaseEndpoint(),
        partitions.map((pk) => ({ pk, sk: 'x' })),
      );
      await logged(() => run('delete', { name }), 'project.deletion_started');
      stack.clock.advance(SETTLE_MS);
      await logged(() => run('delete'), 'project.deleted');
    },
    DeliveryFanOut: async () => {
      const before = failing.received.length;
      await enabled(async () => {
        await logged(publish, 'events.fanned_out');
        return failing.received.length > before;
      });
      const slow = await createWebhook(live, sluggish.url, { events: [deletion.type] });
      const { event_id } = await ok(live('POST', `/v1/webhooks/${slow.id}/test`));
      await eventually(() => deliveryOf(live, slow.id, event_id));
      const id = await publish(deletion);
      await eventually(async () => (await deliveryOf(live, paused.id, id))?.status === 'skipped');
      await eventually(() => deliveryOf(live, slow.id, id));
      await ok(live('DELETE', `/v1/webhooks/${slow.id}`));
      const unreadable = {
        SequenceNumber: '1',
        Keys: { pk: { S: 'EVENT#' }, sk: { S: 'evt_x' } },
        NewImage: { data: {} },
      };
      await logged(() => stack.invoke('DeliveryFanOut', { Records: [{ dynamodb: unreadable }] }), 'event.set_aside');
      let hasFailed = false;
      stack.endpoints.intercept = ({ principal }) => {
        if (!principal.startsWith('DeliveryFanOut')) return undefined;
        hasFailed = true;
        return 'error before';
      };
      try {
        for (const bucket of stack.buckets.values()) bucket.clear();
        await publish();
        await eventually(() => hasFailed);
        stack.clock.advance(24 * 60 * 60 * 1000); // longer than the retries of an event
        await eventually(() => [...stack.buckets.values()].some(({ size }) => size > 0));
      } finally {
        stack.endpoints.intercept = undefined;
      }
    },
    DeliveryDeliver: async () => {
      await lane('Deliveries')();
      const since = new Date(stack.clock.now() - 1000).toISOString();
      await ok(live('PATCH', `/v1/webhooks/${hook.id}`, { body: { status: 'disabled' } }));
      const id = await publish();
      await eventually(async () => (await deliveryOf(live, hook.id, id))?.status === 'skipped');
      const before = failing.received.length;
      await enabled(async () => {
        await live('POST', `/v1/webhooks/${hook.id}/recover`, { body: { since } });
        return failing.received.slice(before).some(({ headers }) => headers['x-service-event-id'] === id);
      });
      const unproven = await createWebhook(live, failing.url, { events: ['sync.conflict'] });
      const unprovenEvent = await publish();
      queueNamed('Deliveries').send(JSON.stringify({ ...lost, webhookId: unproven.id, eventId: unprovenEvent }));
      await eventually(() => deliveryOf(live, unproven.id, unprovenEvent));
      await ok(live('DELETE', `/v1/webhooks/${unproven.id}`));
      await handOn('Deliveries');
    },
    DeliveryDeliverNew: async () => {
      await lane('NewDeliveries')();
      await handOn('NewDeliveries');
    },
    DeliveryDeliverSlow: lane('SlowDeliveries'),
    StatsCount: async () => {
      const counted = async () => {
        const { data } = await ok(live('GET', `/v1/stats?webhook_id=${hook.id}`));
        return data.reduce((sum: number, each: Record<string, number>) => sum + Number(each.attempts_failed), 0);
      };
      const before = await counted();
      await enabled(async () => {
        await publish();
        return (await counted()) > before;
      });
    },
    DeliverySchedule: async () => {
      const role = [...stack.iam.grants()].find(({ role }) => role.startsWith('DeliverySchedulesRole'))?.role ?? '';
      const fire = (QueueUrl: string) =>
        stack.scheduler.fire({
          Arn: sendMessageTarget('aws'),
          RoleArn: `arn:aws:iam::000000000000:role/${role}`,
          Input: JSON.stringify({ QueueUrl, MessageBody: JSON.stringify(lost) }),
          DeadLetterConfig: { Arn: queueNamed('FailedSchedules').settings.arn },
        });
      await logged(async () => fire(queueNamed('Deliveries').settings.name), 'delivery.not_attempted');
      drain('FailedSchedules');
      fire('nothing');
      expect(drain('FailedSchedules')).toBe(1);
    },
  };
  // Functions log their work and rejected requests. Schedules have no log.
  return Object.fromEntries(
    Object.entries(flows).map(([name, flow]) => [
      name,
      name === 'DeliverySchedule' ? flow : () => logged(flow, new RegExp(`^${name}[0-9A-F]{8} `)),
    ]),
  );
}
