import { expect, it } from 'vitest';
import { forwardEvents } from '../../../infra/commands/listen.ts';
import { changed } from '../../support/changed.ts';
import { startReceiver } from '../../support/receiver.ts';
import { publish } from '../../support/requests.ts';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);
const secret = 'whsec_bGlzdGVuIHRvIG1lLCBsaXN0ZW4gdG8gbWU=';

it('forwards new events of the selected types, signed, once, oldest first', async () => {
  const project = await service.project();
  const live = await project.client('live');
  const receiver = await startReceiver(204);
  const stop = new AbortController();
  const lines: string[] = [];
  const listening = forwardEvents({
    baseUrl: service.stack.baseUrl,
    key: project.adminKey,
    forwardTo: receiver.url,
    types: ['document.changed'],
    secret,
    signal: stop.signal,
    print: (line) => lines.push(line),
  });
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
  stop.abort();
  await listening;
  expect(lines.find((line) => line.includes(first.body.id))).toMatch(
    /evt_\w+ {2}document\.changed {2}→ 204 {2}\d+ ms$/,
  );
});
