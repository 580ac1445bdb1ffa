import { afterEach, describe, expect, it } from 'vitest';
import type { Fault, ServiceCall } from '../../../infra/local/services/endpoints.ts';
import { changed } from '../../support/changed.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook, publish } from '../../support/requests.ts';
import { eventually, useService } from '../../support/service.ts';

const service = useService();
const live = async () => (await service.project()).client('live');

/** Injects a fault into all tries of the matching calls. */
function break_(matches: (call: ServiceCall) => boolean, fault: Fault, kill?: string): void {
  service.stack.endpoints.intercept = (call) => {
    if (!matches(call)) return undefined;
    if (kill) for (const fn of service.stack.functions.values()) if (fn.id.startsWith(kill)) fn.killOne();
    return fault;
  };
}
const mend = () => {
  service.stack.endpoints.intercept = undefined;
};
afterEach(mend);

const byEvents = (action: string) => (call: ServiceCall) =>
  call.principal.startsWith('Events') && call.action === action;
const keyed = (body: unknown) => ({ body, headers: { 'Idempotency-Key': 'the-key' } });
const batch = { events: [1, 2, 3].map((revision) => changed({ revision })) };

/** Returns the log lines with level ERROR. */
const errors = () =>
  service.log
    .join('')
    .split('\n')
    .flatMap((line) => (line.includes('"level":"ERROR"') ? [JSON.parse(line.slice(line.indexOf('{')))] : []));

describe('a request with an unknown outcome', () => {
  it('takes effect once when it is repeated after the function died', async () => {
    const client = await live();
    const endpoint = await startReceiver();
    await createWebhook(client, endpoint.url);
    const isResponse = (call: ServiceCall) => JSON.stringify(call.input).includes('"#response"');
    break_((call) => byEvents('UpdateItem')(call) && isResponse(call), 'error before', 'Events');
    const first = await client('POST', '/v1/events/batch', keyed(batch));
    expect(first.status).toBeGreaterThanOrEqual(500);
    expect(first.body.detail).toContain('check first whether it took effect');
    mend();
    service.stack.clock.advance(30_000); // a killed function could not release its lock
    const again = await client('POST', '/v1/events/batch', keyed(batch));
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([202, undefined]);
    expect((await client('POST', '/v1/events/batch', keyed(batch))).text).toBe(again.text);
    await endpoint.until(3);
    const marker = await publish(client);
    await eventually(() => endpoint.received.some(({ body }) => body === marker.text));
    const ids = endpoint.received.map(({ headers }) => headers['x-service-event-id']);
    const published = again.body.data.map(({ id }: { id: string }) => id);
    expect(ids.sort()).toEqual([...published, marker.body.id].sort());
  });
});

describe('an internal failure', () => {
  const since = (before: number) => errors().slice(before);

  it('logs one line with the operation of a request', async () => {
    const client = await live();
    const before = errors().length;
    break_(byEvents('PutItem'), 'throttled');
    const refused = await client('POST', '/v1/events', { body: changed() });
    expect(since(before)).toHaveLength(1);
    expect(since(before)[0]).toMatchObject({
      message: 'request.failed',
      operation: 'publishEvent',
      request_id: refused.headers['x-request-id'],
    });
    expect(service.log.join('')).toContain('HandlingFailures');
  });

  it('logs one line with the cause of a failed delivery', async () => {
    const client = await live();
    const endpoint = await startReceiver(500);
    const { id } = await createWebhook(client, endpoint.url);
    const before = errors().length;
    break_(
      ({ action, input }) => action === 'UpdateItem' && JSON.stringify(input).includes('list_append'),
      'throttled',
    );
    const event = await publish(client);
    // The stack is shared, so other lines can appear.
    const line = await eventually(() => since(before).find(({ message }) => message === 'delivery.handling_failed'));
    expect(line).toMatchObject({
      message: 'delivery.handling_failed',
      error: { name: 'UnavailableError', cause: { name: 'ThrottlingException' } },
      webhook_id: id,
      event_id: event.body.id,
      attempt: 1,
      receive_count: 1,
    });
  });
});
