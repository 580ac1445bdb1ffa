import { describe, expect, it } from 'vitest';
import { emailTime } from '../../../lib/projects/emails.ts';
import { serviceSignature } from '../../../lib/webhooks/signing.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type Attempt, createWebhook, deliveryOf, publish, settled } from '../../support/requests.ts';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);

describe('an event', () => {
  it('reaches a subscribed webhook unchanged, with both kinds of signatures', async () => {
    const live = await (await service.project()).client('live');
    const receiver = await startReceiver();
    const webhook = await createWebhook(live, receiver.url);
    const published = await publish(live);

    const [{ headers, body } = { headers: {}, body: '' }] = await receiver.until(1);
    expect(body).toBe(published.text);
    expect((await live('GET', `/v1/events/${published.body.id}`)).text).toBe(body);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event-id': published.body.id,
      'x-service-event-type': 'document.changed',
      'x-service-attempt': '1',
      'x-service-signature': serviceSignature(webhook.secret, body),
    });
    expect(service.verified(webhook.secret, { headers, body })).toEqual(published.body);
    expect(headers).not.toHaveProperty('x-service-signature-previous');
    expect(headers).not.toHaveProperty('x-service-test');
  });
});

describe('a delivery', () => {
  it('makes 6 attempts on schedule, then disables the webhook and sends one email', async () => {
    const project = await service.project();
    const live = await project.client('live');
    const receiver = await startReceiver(500);
    const { id } = await createWebhook(live, receiver.url);
    const delays: number[] = [];
    // Before it responds to an attempt, it reads the announced time of the attempt.
    receiver.behave(async (response, count, request) => {
      const eventId = String(request.headers['x-service-event-id']);
      const recorded = async () => {
        const delivery = await deliveryOf(live, id, eventId);
        return delivery?.attempts.length === count - 1 ? delivery : undefined;
      };
      if (count > 1) {
        const { next_attempt_at, attempts } = await eventually(recorded);
        delays.push((Date.parse(next_attempt_at) - endOf(attempts.at(-1))) / 1000);
      }
      response.writeHead(500).end();
    });
    const event = await publish(live);
    await settled(live, id, event.body.id);
    expect(delays).toEqual([60, 300, 1800, 7200, 43200]);

    const delivery = await deliveryOf(live, id, event.body.id);
    expect(delivery.attempts.map(({ number, status_code, error }: Attempt) => [number, status_code, error])).toEqual(
      [1, 2, 3, 4, 5, 6].map((number) => [number, 500, 'status_not_2xx']),
    );
    expect(new Set(receiver.received.map(({ body }) => body))).toEqual(new Set([event.text]));
    expect(receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
    ]);
    const webhook = (await live('GET', `/v1/webhooks/${id}`)).body;
    expect(webhook).toMatchObject({ status: 'disabled', disabled_reason: 'deliveries_failed' });

    const emails = () => service.stack.ses.emails.filter(({ to }) => to === project.email);
    const [warning, mail] = await eventually(() => (emails().length > 1 ? emails() : undefined));
    expect(warning?.text).toContain(
      `disable the webhook on ${emailTime(endOf(delivery.attempts[3]) + 14 * 60 * 60 * 1000)}`,
    );
    expect(mail?.subject).toContain('Webhook disabled');
    expect(mail?.text).toContain(id);
    expect(mail?.text).toContain(event.body.id);
    expect(mail?.text).toContain('HTTP 500');

    const late = await publish(live);
    expect(await settled(live, id, late.body.id)).toMatchObject({ status: 'skipped', attempts: [] });
    expect(receiver.received).toHaveLength(6);
    expect(emails()).toHaveLength(2);
  });

  const endOf = ({ at, duration_ms }: Attempt) => Date.parse(at) + duration_ms;
});
