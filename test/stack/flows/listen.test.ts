import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { dev } from '../../../infra/commands/dev.ts';
import { UserError } from '../../../infra/user-error.ts';
import { changed } from '../../support/changed.ts';
import { startReceiver } from '../../support/receiver.ts';
import { publish } from '../../support/requests.ts';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';
import { ran } from '../../support/shell.ts';

const service = useService(FAST_DELAYS);
const secret = 'whsec_bGlzdGVuIHRvIG1lLCBsaXN0ZW4gdG8gbWU=';

it('forwards new events of the selected types, signed, once, oldest first', async () => {
  const project = await service.project();
  const live = await project.client('live');
  const receiver = await startReceiver(204);
  const lines: string[] = [];
  const target = ['--base-url', service.stack.baseUrl, '--key', project.adminKey, '--secret', secret];
  const options = ['--forward-to', receiver.url, '--events', 'document.changed'];
  let isStopped = false;
  const members = {
    print: (line: string) => void lines.push(line),
    async wait() {
      if (isStopped) throw new UserError('The test has ended.');
      await wait(100);
    },
  };
  const listening = ran(dev('npm run dev --'), ['listen', ...target, ...options], {}, members);
  await eventually(() => lines.length > 0);
  const big =
    '{"type":"document.changed","data":{"document_key":"a","revision":2,"changes":[{"field":"n","old_value":12345678901234567890,"new_value":1.10,"origin":"n"}]}}';
  const first = await live('POST', '/v1/events', { body: big });
  expect(first.status, first.text).toBe(202);
  await live('PUT', '/v1/documents/a', { body: { fields: {} } });
  const last = await publish(live, changed());
  const { received } = receiver;
  await eventually(() => received.length >= 2);
  expect(received.map(({ headers }) => headers['x-service-event-id'])).toEqual([first.body.id, last.body.id]);
  expect(received[0]?.body).toContain('12345678901234567890');
  expect(received[0]?.body).toContain('1.10');
  receiver.behave(500);
  await publish(live);
  await eventually(() => lines.some((line) => line.includes('→ 500')));
  isStopped = true;
  await listening;
  expect(lines.find((line) => line.includes(first.body.id))).toMatch(
    /evt_\w+ {2}document\.changed {2}→ 204 {2}\d+ ms\n$/,
  );
});
