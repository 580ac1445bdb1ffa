import { beforeAll, describe, expect, it } from 'vitest';
import { RETRY_DELAYS_SECONDS } from '../../lib/deliveries/retry-schedule.ts';
import { changed } from '../support/changed.ts';
import { startReceiver, type TestReceiver } from '../support/receiver.ts';
import { createWebhook, deliveryOf, publish } from '../support/requests.ts';
import { eventually } from '../support/service.ts';
import { outputsOf, physicalIds, stackOf } from './account.ts';
import { deliverDocument, useDeployment } from './deployed.ts';
import { CAUSE, failing } from './failing.ts';

/** Changes of functions, their mappings and their variables, as an update of the code changes them. */
const CHANGED = { batchingSeconds: 1, deliverConcurrency: 20, throttles: { deliveriesPerSecond: 500 } };

const service = useDeployment();

describe('an update keeps every resource, the address, keys, tokens and pending retries', () => {
  let work: Awaited<ReturnType<typeof deliverDocument>>;
  let endpoint: TestReceiver;
  let delivery: () => ReturnType<typeof deliveryOf>;
  let before: Awaited<ReturnType<typeof deployed>>;
  beforeAll(async () => {
    work = await deliverDocument(await service.project(), service.as);
    endpoint = await startReceiver(500);
    const { id } = await createWebhook(work.live, endpoint.url, { events: ['document.changed'] });
    const { body: event } = await publish(work.live, changed());
    delivery = () => deliveryOf(work.live, id, event.id);
    await eventually(async () => (await delivery())?.attempts.length === 1);
    before = await deployed();
  });

  /** The physical ids and the outputs. Each deployment of the API is a new one. */
  async function deployed() {
    const ids = Object.entries(await physicalIds(service.emulator));
    const kept = Object.fromEntries(ids.filter(([id]) => !id.startsWith('ApiRestApiDeployment')));
    return { kept, outputs: await outputsOf(service.emulator) };
  }

  /** Works with the token from before, and makes the retry that is pending since before. */
  async function continueWith(title: string, attempts: number): Promise<void> {
    const received = work.receiver.received.length;
    const body = { fields: { title } };
    expect((await work.token('PUT', '/v1/documents/org:acme:hello', { body })).status).toBe(200);
    await work.receiver.until(received + 1);
    service.emulator.advance((RETRY_DELAYS_SECONDS[attempts - 2] ?? 0) * 1000);
    await eventually(async () => (await delivery())?.attempts.length === attempts);
  }

  it('when it succeeds', async () => {
    const { status, output } = await service.checkout.deploy(await service.checkout.synthesize(CHANGED));
    expect([status, output]).toEqual([0, expect.anything()]);
    expect((await stackOf(service.emulator))?.StackStatus).toBe('UPDATE_COMPLETE');
    expect(await deployed()).toEqual(before);
    await continueWith('Updated', 2);
  });

  it('when CloudFormation rolls it back', async () => {
    const assembly = await service.checkout.synthesize({ ...CHANGED, batchingSeconds: 2 });
    const { status, output } = await service.checkout.deploy(failing(assembly));
    expect([status, output]).toEqual([1, expect.stringContaining(CAUSE)]);
    expect((await stackOf(service.emulator))?.StackStatus).toBe('UPDATE_ROLLBACK_COMPLETE');
    expect(await deployed()).toEqual(before);
    endpoint.behave(200);
    await continueWith('Rolled back', 3);
    expect(await delivery()).toMatchObject({ status: 'succeeded' });
  });
});
