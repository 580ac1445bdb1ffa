import { describe, expect, it } from 'vitest';
import { serviceSignature } from '../../../lib/webhooks/signing.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish } from '../../support/requests.ts';
import { FAST_DELAYS, useService } from '../../support/service.ts';

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
