import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../../lib/events/types.ts';
import { serviceSignature } from '../../../lib/webhooks/signature.ts';
import { PROTOTYPE_NAMES } from '../../support/adversarial.ts';
import { changed } from '../../support/changed.ts';
import { startReceiver, type TestReceiver } from '../../support/receiver.ts';
import { type Attempt, createWebhook, deliveryOf, publish, publishAll, settled } from '../../support/requests.ts';
import { eventually, FAST_DELAYS, useService } from '../../support/service.ts';

/** Characters of JSON text that a service could reject or replace, and some of each size in UTF-8. */
const HOSTILE_TEXT = '\ufffe\uffff\u0000\u001f\u007f\u0085\u2028\ufeff\ufdd0\u{1fffe}\u{10ffff}äöü€😀"\\';

describe('an event', () => {
  const service = useService();

  it('reaches a subscribed webhook unchanged, with both kinds of signatures', async () => {
    const live = await (await service.project()).client('live');
    const receiver = await startReceiver();
    const webhook = await createWebhook(live, receiver.url);
    const published = await publish(live);

    const [{ headers, body } = { headers: {}, body: '' }] = await receiver.until(1);
    expect(body).toBe(published.text);
    expect((await live('GET', `/v1/events/${published.body.id}`)).text).toBe(body);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event-id': published.body.id,
      'x-service-event-type': 'document.changed',
      'x-service-attempt': '1',
      'x-service-signature': serviceSignature(webhook.secret, body),
    });
    expect(service.verified(webhook.secret, { headers, body })).toEqual(published.body);
    expect(headers).not.toHaveProperty('x-service-signature-previous');
    expect(headers).not.toHaveProperty('x-service-test');
  });

  it('reaches each of 3 webhooks with one request for each attempt, for 100 events', async () => {
    const live = await (await service.project()).client('live');
    const receivers = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
    for (const { url } of receivers) await createWebhook(live, url);
    const ids = await publishAll(
      live,
      Array.from({ length: 100 }, (_, i) => changed({ revision: i + 1 })),
    );
    expect(new Set(ids).size).toBe(100);
    for (const receiver of receivers) {
      const received = () => new Set(receiver.received.map(({ headers }) => headers['x-service-event-id']));
      // On a busy machine, some attempts fail, and their retries are minutes later.
      await eventually(() => received().size >= 100, 500_000);
      expect(received()).toEqual(new Set(ids));
      // On a busy machine, a response can take 5 s, which causes a second attempt.
      const attempts = receiver.received.map(
        ({ headers: h }) => `${h['x-service-event-id']} ${h['x-service-attempt']}`,
      );
      // A failed or timed-out function retries its messages, and logs the failure.
      if (new Set(attempts).size < attempts.length)
        expect(service.log.join('')).toMatch(/Task timed out|delivery\.handling_failed/);
    }
  });
});

describe('a delivery', () => {
  const service = useService(FAST_DELAYS);

  it('makes 6 attempts on schedule, then disables the webhook and sends one email', async () => {
    const project = await service.project();
    const live = await project.client('live');
    const receiver = await startReceiver(500);
    const { id } = await createWebhook(live, receiver.url);
    const delays: number[] = [];
    // Before it responds to an attempt, it reads the announced time of the attempt.
    receiver.behave(async (response, count, request) => {
      const eventId = String(request.headers['x-service-event-id']);
      const recorded = async () => {
        const delivery = await deliveryOf(live, id, eventId);
        return delivery?.attempts.length === count - 1 ? delivery : undefined;
      };
      if (count > 1) {
        const { next_attempt_at, attempts } = await eventually(recorded);
        delays.push((Date.parse(next_attempt_at) - endOf(attempts.at(-1))) / 1000);
      }
      response.writeHead(500).end();
    });
    const event = await publish(live);
    await settled(live, id, event.body.id);
    expect(delays).toEqual([60, 300, 1800, 7200, 43200]);

    const delivery = await deliveryOf(live, id, event.body.id);
    expect(delivery.attempts.map(({ number, status_code, error }: Attempt) => [number, status_code, error])).toEqual(
      [1, 2, 3, 4, 5, 6].map((number) => [number, 500, 'status_not_2xx']),
    );
    expect(new Set(receiver.received.map(({ body }) => body))).toEqual(new Set([event.text]));
    expect(receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
    ]);
    const webhook = (await live('GET', `/v1/webhooks/${id}`)).body;
    expect(webhook).toMatchObject({ status: 'disabled', disabled_reason: 'deliveries_failed' });

    const emails = () => service.stack.ses.emails.filter(({ to }) => to === project.email);
    const [warning, mail] = await eventually(() => (emails().length > 1 ? emails() : undefined));
    const disabledAt = /disable the webhook at (\S+Z)/.exec(warning?.text ?? '')?.[1] ?? '';
    expect(Date.parse(disabledAt) - endOf(delivery.attempts[3])).toBe(14 * 60 * 60 * 1000);
    expect(mail?.subject).toContain('Webhook disabled');
    expect(mail?.text).toContain(id);
    expect(mail?.text).toContain(event.body.id);
    expect(mail?.text).toContain('HTTP 500');

    const late = await publish(live);
    expect(await settled(live, id, late.body.id)).toMatchObject({ status: 'skipped', attempts: [] });
    expect(receiver.received).toHaveLength(6);
    expect(emails()).toHaveLength(2);
  });

  it('records headers of any name, in both directions, and counts the failures', async () => {
    const project = await service.project();
    const live = await project.client('live');
    const named = PROTOTYPE_NAMES.map((name) => `${name}: x\r\n`).join('');
    const seen: string[][] = [];
    const receiver = await startReceiver((response, _, { rawHeaders }) => {
      seen.push(rawHeaders);
      response.socket?.end(`HTTP/1.1 500 No\r\nContent-Length: 0\r\n${named}\r\n`);
    });
    const headers = JSON.parse('{"__proto__":"a","constructor":"b"}');
    const created = await live('POST', '/v1/webhooks', {
      body: { url: receiver.url, events: EVENT_TYPES, headers },
    });
    expect(created.text).toContain('"headers":{"__proto__":"***","constructor":"***"}');
    const { id } = created.body;
    const event = await publish(live);
    const { status, attempts } = await settled(live, id, event.body.id);
    expect([status, attempts.length, receiver.received.length]).toEqual(['failed', 6, 6]);
    for (const { request_headers, response_headers } of attempts) {
      expect(Object.keys(response_headers)).toEqual(['Content-Length', ...PROTOTYPE_NAMES]);
      expect(Object.entries(request_headers)).toEqual(
        expect.arrayContaining([
          ['__proto__', '***'],
          ['constructor', '***'],
        ]),
      );
    }
    for (const raw of seen) expect(raw).toEqual(expect.arrayContaining(['__proto__', 'a', 'constructor', 'b']));
    expect((await live('GET', `/v1/webhooks/${id}`)).body.disabled_reason).toBe('deliveries_failed');
    const emails = () => service.stack.ses.emails.filter(({ to }) => to === project.email);
    await eventually(() => emails().length > 1);
    await eventually(() => [...service.stack.functions.values()].every((fn) => fn.busy === 0));
    expect(emails().map(({ subject }) => subject.split(':')[0])).toEqual(['Webhook failing', 'Webhook disabled']);
  });

  const endOf = ({ at, duration_ms }: Attempt) => Date.parse(at) + duration_ms;

  it.each([
    ['travels in its message', HOSTILE_TEXT],
    ['is read for each attempt', HOSTILE_TEXT.repeat(100)],
  ])('has the same bytes in all 6 attempts with any characters when it %s', async (_, text) => {
    const live = await (await service.project()).client('live');
    const [failing, healthy] = [await startReceiver(500), await startReceiver()];
    const { id } = await createWebhook(live, failing.url, { events: ['document.created'] });
    await createWebhook(live, healthy.url);
    const { token } = (
      await live('POST', '/v1/tokens', { body: { documents: ['a:*'], permissions: ['write'], ttl: 60 } })
    ).body;
    const fields = { text, [text.slice(0, 20)]: 1 };
    expect((await service.as(token)('PUT', '/v1/documents/a:b', { body: { fields } })).status).toBe(201);
    const other = await publish(live);
    const [created] = (await live('GET', '/v1/events?type=document.created')).body.data;
    const { text: stored } = await live('GET', `/v1/events/${created.id}`);
    expect(JSON.parse(stored).data.fields).toEqual(fields);

    await settled(live, id, created.id);
    await healthy.until(2);
    const bodiesOf = (receiver: TestReceiver, eventId: string) =>
      receiver.received.filter(({ headers }) => headers['x-service-event-id'] === eventId).map(({ body }) => body);
    expect(bodiesOf(failing, created.id)).toEqual(Array(6).fill(stored));
    expect([bodiesOf(healthy, created.id), bodiesOf(healthy, other.body.id)]).toEqual([[stored], [other.text]]);
  });
});
