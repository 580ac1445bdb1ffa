import { expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { databaseEndpoint } from '../../support/database.ts';
import { writeItems } from '../../support/items.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publishAll } from '../../support/requests.ts';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);

it('counts the other deliveries when the stream contains an unreadable change', async () => {
  const live = await (await service.project()).client('live');
  const receiver = await startReceiver();
  await createWebhook(live, receiver.url);
  await writeItems(service.stack, databaseEndpoint(), [{ pk: 'HOOK#whk_unreadable#0', sk: 'evt_1' }]);
  await publishAll(live, [changed(), changed()]);
  const delivered = async () => {
    const { body } = await live('GET', '/v1/stats');
    return body.data.reduce((sum: number, row: { delivered: number }) => sum + row.delivered, 0);
  };
  await eventually(async () => (await delivered()) === 2);
  expect(service.log.join('')).toContain('stats.change_unreadable');
});
