import { describe, expect, it } from 'vitest';
import { SLOW_FOR_MS } from '../../../lib/deliveries/lanes.ts';
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
    const lastLane = () => lanesOf(id).at(-1);
    /** Delivers until the quick lane does. On a busy machine, a response can be slow, which counts for ten minutes. */
    const becomesQuick = () =>
      eventually(async () => {
        await deliver();
        if (lastLane() === 'Slow') service.stack.clock.advance(SLOW_FOR_MS);
        return lastLane() === 'Quick';
      });
    await deliver();
    expect(lanesOf(id)).toEqual(['New']);
    await becomesQuick();
    receiver.behave((response) => void setTimeout(() => response.writeHead(200).end(), 3600));
    const before = receiver.received.length;
    await deliver();
    // The quick lane hands the long attempt over to the slow lane, which makes it again.
    expect([lastLane(), receiver.received.length - before]).toEqual(['Slow', 2]);
    receiver.behave(200);
    await deliver();
    expect(lastLane()).toBe('Slow');
    service.stack.clock.advance(SLOW_FOR_MS);
    await deliver();
    expect(lastLane()).toBe('New');
    await becomesQuick();
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
    await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'enabled' } });
    await deliver();
    expect(lastLane()).toBe('New');
  });
});
