import { expect, it } from 'vitest';
import { code } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook, publish } from '../../support/requests.ts';

it('stops a recovery before it sends messages if the webhook is deleted at the same time', async () => {
  const service = memoryService();
  const client = await (await service.project()).client('live');
  const { id } = await createWebhook(client, service.endpoint().url);
  await client('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
  await publish(client);
  await service.settle();
  const sent: string[] = [];
  service.faults.around = async ({ name }, perform) => {
    sent.push(name);
    if (name === 'TransactWrite') {
      delete service.faults.around;
      expect((await client('DELETE', `/v1/webhooks/${id}`)).status).toBe(204);
    }
    return perform();
  };
  expect(code(await client('POST', `/v1/webhooks/${id}/recover`, { body: { enable: true } }))).toEqual([
    404,
    'not_found',
  ]);
  expect(sent).not.toContain('SendMessageBatch');
  await service.settle();
  expect(service.messages.filter((message) => 'recover' in message)).toEqual([]);
});
