import { describe, expect, it } from 'vitest';
import { auditLog } from '../../../lib/audit/store.ts';
import { endpoints } from '../../../lib/deliveries/endpoint-store.ts';
import { deliveryLog } from '../../../lib/deliveries/log-store.ts';
import { runKey } from '../../../lib/deliveries/record.ts';
import { deliveries } from '../../../lib/deliveries/store.ts';
import { webhooks } from '../../../lib/webhooks/store.ts';
import type { WebhookRecord } from '../../../lib/webhooks/webhook.ts';
import { attemptOf, newDelivery, now, recordOf, retrying } from './builders.ts';
import { newStore } from './stores.ts';

const { table } = newStore();

describe('disabling', () => {
  const own = endpoints(table);
  const log = deliveryLog(table);

  /** A webhook with a delivery whose last attempt is next. */
  async function nearTheEnd(of: Partial<WebhookRecord> = {}) {
    const { webhook, event, message } = newDelivery(of);
    await webhooks(table).create(webhook, []);
    const last = message({ attempt: 6 });
    await deliveries(table).record(message({ attempt: 5 }), event, attemptOf(message({ attempt: 5 })), retrying);
    return {
      ...{ webhook, event, message, last },
      failLast: () => own.recordLastFailure(webhook, last, event, attemptOf(last), now + 1),
      hook: async () => recordOf(await webhooks(table).get(webhook, webhook.id)),
      delivery: async () => recordOf(await log.get(webhook.id, event.id)),
    };
  }

  it('records the attempt and disables the webhook, with an audit entry without an actor', async () => {
    const { webhook, last, failLast, hook, delivery } = await nearTheEnd();
    expect(await failLast()).toEqual({ isRecorded: true, isEmailPending: true });
    const recorded = await delivery();
    expect(recorded).toMatchObject({ status: 'failed', attempt: 6, attempts: [{ number: 5 }, { number: 6 }] });
    expect([recorded?.nextAttemptAt, recorded?.retryPending]).toEqual([undefined, undefined]);
    expect(await hook()).toEqual({
      ...webhook,
      ...{ status: 'disabled', disabledReason: 'deliveries_failed', disabledBy: runKey(last) },
      ...{ disabledAt: now + 1, updatedAt: now + 1, failingSince: now, undeliveredSince: now },
    });
    const filter = { since: 0, actor: undefined, target: webhook.id };
    const { entries } = await auditLog(table).list(webhook.projectId, filter, 10);
    const change = { action: 'webhook.disabled', actor: null, address: null, at: now + 1 };
    const detail = { environment: webhook.environment, event_id: last.eventId };
    expect(entries).toEqual([expect.objectContaining({ ...change, target: webhook.id, detail })]);
  });

  it('records the attempt if the webhook is deleted at the same time', async () => {
    const { webhook, failLast, hook, delivery } = await nearTheEnd();
    await webhooks(table).remove(webhook, webhook.id, now);
    expect(await failLast()).toEqual({ isRecorded: true, isEmailPending: false });
    expect(await delivery()).toMatchObject({ status: 'failed', attempt: 6 });
    expect(await hook()).toBeUndefined();
  });

  it('keeps the start of an outage', async () => {
    const { failLast, hook } = await nearTheEnd({ failingSince: now - 9, undeliveredSince: now - 10 });
    await failLast();
    expect(await hook()).toMatchObject({ failingSince: now - 9, undeliveredSince: now - 10 });
  });

  it('disables nothing if a newer run has started', async () => {
    const { webhook, event, message, failLast, hook, delivery } = await nearTheEnd();
    await deliveries(table).record(message({ run: 1 }), event, attemptOf(message({ run: 1 })), retrying);
    const before = await delivery();
    expect(await failLast()).toEqual({ isRecorded: false, isEmailPending: false });
    expect(await delivery()).toEqual(before);
    expect(await hook()).toEqual(webhook);
  });
});
