import { expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { memoryService } from '../../support/memory-service.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

it('retries after 1 min, 5 min, 30 min, 2 h and 12 h, then disables the webhook and sends one email', async () => {
  const service = memoryService();
  const { admin } = await service.project();
  const times: number[] = [];
  const endpoint = service.endpoint(() => {
    times.push(service.clock.now());
    return 500;
  });
  const { body: webhook } = await admin('POST', '/v1/webhooks', {
    body: { url: endpoint.url, events: ['document.changed'] },
  });
  await admin('POST', '/v1/events', { body: changed() });
  await service.clock.advance(16 * HOUR);
  const minutes = times.slice(1).map((time, i) => Math.round((time - (times[i] ?? 0)) / MINUTE));
  expect(minutes).toEqual([1, 5, 30, 2 * 60, 12 * 60]);
  expect((await admin('GET', `/v1/webhooks/${webhook.id}`)).body).toMatchObject({ status: 'disabled' });
  expect(service.emails.filter(({ subject }) => subject.includes('disabled'))).toHaveLength(1);
});
