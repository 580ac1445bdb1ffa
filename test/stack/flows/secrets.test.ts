import { describe, expect, it } from 'vitest';
import { serviceSignature, standardSignature } from '../../../lib/webhooks/signature.ts';
import { code } from '../../support/documents.ts';
import { type Received, startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish } from '../../support/requests.ts';
import { useService } from '../../support/service.ts';

const service = useService();
/** Whether a delivery has a Standard Webhooks signature with a secret. The library would compare with the real time. */
function isSignedWith(secret: string, { headers, body }: Received): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': seconds, 'webhook-signature': signatures = '' } = headers;
  return signatures.split(' ').includes(standardSignature(secret, id, Number(seconds), body));
}
const HOUR_MS = 60 * 60 * 1000;

describe('a rotated secret', () => {
  it('signs for 24 hours, even after more rotations', async () => {
    const client = await (await service.project()).client('live');
    const endpoint = await startReceiver();
    const { id, secret } = await createWebhook(client, endpoint.url);
    const rotate = async () => (await client('POST', `/v1/webhooks/${id}/rotate-secret`)).body.secret as string;
    service.stack.clock.advance(HOUR_MS);
    const second = await rotate();
    service.stack.clock.advance(HOUR_MS);
    const third = await rotate();

    await publish(client);
    const [first = { headers: {}, body: '' }] = await endpoint.until(1);
    const { headers, body } = first;
    expect(headers['x-service-signature']).toBe(serviceSignature(third, body));
    expect(headers['x-service-signature-previous']).toBe(serviceSignature(second, body));
    for (const each of [secret, second, third]) expect(isSignedWith(each, first)).toBe(true);

    service.stack.clock.advance(23 * HOUR_MS);
    await publish(client);
    const { headers: later = {} } = (await endpoint.until(2))[1] ?? {};
    expect(later['webhook-signature']?.split(' ')).toHaveLength(2);
    expect(later['x-service-signature-previous']).toBeDefined();
    service.stack.clock.advance(HOUR_MS);
    await publish(client);
    const { headers: last = {} } = (await endpoint.until(3))[2] ?? {};
    expect(last['webhook-signature']?.split(' ')).toHaveLength(1);
    expect(last).not.toHaveProperty('x-service-signature-previous');
  });

  it('is one of at most 5 previous secrets that sign', async () => {
    const client = await (await service.project()).client('live');
    const { id } = await createWebhook(client, 'https://example.com/');
    const rotate = () => client('POST', `/v1/webhooks/${id}/rotate-secret`);
    for (let i = 0; i < 5; i++) expect((await rotate()).status).toBe(200);
    const refused = await rotate();
    expect(code(refused)).toEqual([409, 'limit_reached']);
    service.stack.clock.advance(24 * HOUR_MS);
    expect((await rotate()).status).toBe(200);
  });

  it('is rotated once for a repeated request', async () => {
    const client = await (await service.project()).client('live');
    const { id } = await createWebhook(client, 'https://example.com/');
    const call = { headers: { 'Idempotency-Key': 'once' } };
    const first = await client('POST', `/v1/webhooks/${id}/rotate-secret`, call);
    const again = await client('POST', `/v1/webhooks/${id}/rotate-secret`, call);
    expect(first.body.secret).toMatch(/^whsec_/);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.body).toEqual({ ...first.body, secret: undefined });
  });

  it('keeps signing with all secrets after concurrent rotations', async () => {
    const client = await (await service.project()).client('live');
    const endpoint = await startReceiver();
    const { id, secret } = await createWebhook(client, endpoint.url);
    const rotations = Array.from({ length: 4 }, () => client('POST', `/v1/webhooks/${id}/rotate-secret`));
    const secrets = [secret, ...(await Promise.all(rotations)).map(({ body }) => body.secret)];
    expect(new Set(secrets).size).toBe(5);
    await publish(client);
    const [first = { headers: {}, body: '' }] = await endpoint.until(1);
    for (const each of secrets) expect(isSignedWith(each, first)).toBe(true);
  });
});
