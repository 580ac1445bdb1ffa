import { describe, expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, deliveryOf, publish, publishAll, settled } from '../../support/requests.ts';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);
const live = async () => (await service.project()).client('live');

describe('a webhook with a rate limit', () => {
  const isDelayed = (line: string, id: string) => line.includes(id) && line.includes('"reason":"delay"');

  it('gets every delivery with one attempt, and some of them later', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const { id } = await createWebhook(client, receiver.url, { max_per_second: 2 });
    const ids = await publishAll(
      client,
      Array.from({ length: 10 }, () => changed()),
    );
    await receiver.until(10);
    expect(receiver.received.map(({ headers }) => headers['x-service-event-id']).sort()).toEqual(ids.sort());
    for (const eventId of ids) expect((await settled(client, id, eventId)).attempts).toHaveLength(1);
    const lines = service.log.join('').split('\n');
    expect(lines.some((line) => isDelayed(line, id))).toBe(true);
  });
});

describe('an endpoint', () => {
  const lanesOf = (id: string) =>
    service.log
      .join('')
      .split('\n')
      .filter((line) => line.includes(id) && line.includes('"delivery.attempted"'))
      .map((line) => /^DeliveryDeliver(New|Slow)?/.exec(line)?.[1] ?? 'Quick');

  it('moves to the quick lane after a quick response, and leaves it after a slow one', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const { id } = await createWebhook(client, receiver.url);
    let delivered = 0;
    const deliver = async () => {
      delivered++;
      await settled(client, id, (await publish(client)).body.id);
      await eventually(() => lanesOf(id).length === delivered);
    };
    for (let i = 0; i < 3; i++) await deliver();
    expect(lanesOf(id)).toEqual(['New', 'Quick', 'Quick']);
    receiver.behave((response) => void setTimeout(() => response.writeHead(200).end(), 2600));
    await deliver();
    receiver.behave(200);
    await deliver();
    service.stack.clock.advance(10 * 60_000);
    for (let i = 0; i < 2; i++) await deliver();
    // The quick lane hands the long attempt over to the slow lane, which makes it again.
    expect(lanesOf(id).slice(3)).toEqual(['Slow', 'Slow', 'New', 'Quick']);
    expect(receiver.received).toHaveLength(8);
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'enabled' } });
    await deliver();
    expect(lanesOf(id).at(-1)).toBe('New');
  });
});

describe('an outage', () => {
  it('can be recovered after a weekend with one call that enables the webhook, without losses', async () => {
    const client = await live();
    const receiver = await startReceiver();
    const { id } = await createWebhook(client, receiver.url);
    const webhook = async () => (await client('GET', `/v1/webhooks/${id}`)).body;
    const ok = await publish(client);
    expect((await settled(client, id, ok.body.id)).status).toBe('succeeded');

    receiver.behave(503);
    const broken = await Promise.all([1, 2, 3].map((revision) => publish(client, changed({ revision }))));
    const [first] = await eventually(async () => {
      const { body } = await client('GET', `/v1/webhooks/${id}/deliveries?status=failed`);
      return body.data.length > 0 && (await webhook()).status === 'disabled' ? body.data : undefined;
    });
    const outage = await webhook();
    expect(outage).toMatchObject({ status: 'disabled', disabled_reason: 'deliveries_failed' });
    expect(Date.parse(outage.failing_since)).toBeLessThan(Date.parse(first.attempts.at(-1).at));
    expect(Date.parse(outage.failing_since)).toBeGreaterThan(Date.parse(ok.body.timestamp));
    service.stack.clock.advance(2 * 24 * 60 * 60 * 1000);
    const missed = await Promise.all([4, 5].map((revision) => publish(client, changed({ revision }))));
    for (const { body } of [...broken, ...missed])
      expect(['failed', 'canceled', 'skipped']).toContain((await settled(client, id, body.id)).status);

    receiver.behave(200);
    const before = receiver.received.length;
    const call = { body: { enable: true }, headers: { 'Idempotency-Key': crypto.randomUUID() } };
    const recovered = await client('POST', `/v1/webhooks/${id}/recover`, call);
    expect([recovered.status, recovered.body]).toEqual([202, { count: 5 }]);
    const repeated = await client('POST', `/v1/webhooks/${id}/recover`, call);
    expect([repeated.body, repeated.headers['idempotency-replayed']]).toEqual([recovered.body, 'true']);
    await receiver.until(before + 5);
    const arrived = receiver.received.slice(before).map(({ body }) => body);
    expect(arrived.sort()).toEqual([...broken, ...missed].map(({ text }) => text).sort());
    await eventually(async () => (await webhook()).failing_since === null);
    expect(await webhook()).toMatchObject({ status: 'enabled', disabled_at: null, disabled_reason: null });

    const emails = service.stack.ses.emails.filter(({ text }) => text.includes(id)).map(({ subject }) => subject);
    expect(emails.map((subject) => subject.split(':')[0])).toEqual(['Webhook failing', 'Webhook disabled']);
    const delivery = await deliveryOf(client, id, missed[0]?.body.id);
    expect(delivery.attempts.map(({ trigger }: { trigger: string }) => trigger)).toEqual(['recovery']);
  });
});
