import { describe, expect, it } from 'vitest';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish, settled } from '../../support/requests.ts';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);

describe('an endpoint', () => {
  const lanesOf = (id: string) =>
    service.log
      .join('')
      .split('\n')
      .filter((line) => line.includes(id) && line.includes('"delivery.attempted"'))
      .map((line) => /^DeliveryDeliver(New|Slow)?/.exec(line)?.[1] ?? 'Quick');

  it('moves to the quick lane after a quick response, and leaves it after a slow one', async () => {
    const client = await (await service.project()).client('live');
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
    receiver.behave((response) => void setTimeout(() => response.writeHead(200).end(), 3600));
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
