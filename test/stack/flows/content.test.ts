import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { MAX_DOCUMENT_BYTES } from '../../../lib/documents/document.ts';
import { assignedTexts, CHARACTERS } from '../../support/adversarial.ts';
import { listed, put } from '../../support/documents.ts';
import { startReceiver, type TestReceiver } from '../../support/receiver.ts';
import { type Attempt, createWebhook, settled } from '../../support/requests.ts';
import { FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);

const receivedOf = ({ received }: TestReceiver, eventId: string) =>
  received.filter(({ headers }) => headers['x-service-event-id'] === eventId);

it('delivers the same bytes in all 6 attempts, for every assigned character and noncharacter', async () => {
  const live = await (await service.project()).client('live');
  // The first text is so short that the messages of its event contain it.
  const texts = [CHARACTERS.join(''), ...assignedTexts(MAX_DOCUMENT_BYTES - 100)];
  expect(new Set(texts.join('')).size).toBeGreaterThan(280_000);
  const failing = await startReceiver(500);
  const webhooks: { id: string; secret: string; text: string }[] = [];
  for (const [i, text] of texts.entries()) {
    const subscription = { events: ['document.created'], documents: [`all:${i}`] };
    webhooks.push({ ...(await createWebhook(live, failing.url, subscription)), text });
  }
  for (const [i, text] of texts.entries()) expect((await put(live, `all:${i}`, { text })).status).toBe(201);
  for (const [i, { id, secret, text }] of webhooks.entries()) {
    const [event] = await listed(live, `/v1/events?document_key=all:${i}`);
    expect(event.data.fields.text === text).toBe(true);
    const { text: stored } = await live('GET', `/v1/events/${event.id}`);
    const { attempts } = await settled(live, id, event.id);
    expect(attempts.map(({ number }: Attempt) => number)).toEqual([1, 2, 3, 4, 5, 6]);
    const signature = `sha256=${createHmac('sha256', secret).update(stored).digest('hex')}`;
    const requests = receivedOf(failing, event.id);
    expect(requests.map(({ body }) => body === stored)).toEqual(Array(6).fill(true));
    for (const { headers } of requests) expect(headers['x-service-signature']).toBe(signature);
  }
});
