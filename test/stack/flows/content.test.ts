import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { csv } from '../../../functions/site/dashboard/deliveries/csv.ts';
import { MAX_DOCUMENT_BYTES } from '../../../lib/documents/document.ts';
import { inert } from '../../../lib/projects/emails.ts';
import { assignedTexts, CHARACTERS, PROTOTYPE_NAMES, TEXTS } from '../../support/adversarial.ts';
import { changed } from '../../support/changed.ts';
import { listed, put } from '../../support/documents.ts';
import { startReceiver, type TestReceiver } from '../../support/receiver.ts';
import { type Attempt, createWebhook, publish, settled } from '../../support/requests.ts';
import { eventually, FAST_DELAYS, type Project, useService } from '../../support/service.ts';

const service = useService(FAST_DELAYS);

/** Every text below contains this marker, and no log of a function does. */
const MARKER = 'marked-content';
const textOf = (characters: readonly string[]): string => MARKER + characters.join('');

const PRINTABLE = CHARACTERS.filter((character) => !/\p{Cc}/u.test(character));
const PROJECT_NAME = textOf(PRINTABLE.filter((character) => !/\p{Cf}/u.test(character)))
  .slice(0, 100)
  .toWellFormed();
const KEY_NAME = textOf(PRINTABLE.slice(-50)).trim();
const DESCRIPTION = textOf(PRINTABLE);
const SECRET = textOf(PRINTABLE);
const ASCII = String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 0x20 + i)).trim();
const NODE = ASCII.slice(-64);
const HEADERS = Object.fromEntries([
  ['__proto__', `${MARKER}${ASCII}`],
  ['constructor', '0'],
  ['toString', ASCII],
  ["!#$%&'*+.^_`|~-", 'x'],
]);
/** Document keys of events cannot contain lone surrogates. */
const WELL_FORMED = textOf(CHARACTERS);
/** The characters that the delivery log and emails omit, because they control a terminal or the direction of text. */
const REMOVED = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const namedFields = () => Object.fromEntries(TEXTS.map((name) => [name, [name, { [name]: name }]]));

/** The emails to a project, once there are so many. */
const emailsTo = ({ email }: Project, count: number) =>
  eventually(() => {
    const emails = service.stack.ses.emails.filter(({ to }) => to === email);
    return emails.length >= count ? emails : undefined;
  });

const receivedOf = ({ received }: TestReceiver, eventId: string) =>
  received.filter(({ headers }) => headers['x-service-event-id'] === eventId);

/** Reads the cells of a CSV file (RFC 4180). */
const cellsOf = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = '']) => cell.replaceAll('""', '"'));

describe('content of a customer', () => {
  it('reaches events, deliveries, logs, lists, emails and CSV files unchanged', async () => {
    const project = await service.project();
    const { admin } = project;
    const live = await project.client('live');
    expect((await admin('PATCH', '/v1/project', { body: { name: PROJECT_NAME } })).body.name).toBe(PROJECT_NAME);
    const { body: key } = await admin('POST', '/v1/keys', { body: { type: 'read', name: KEY_NAME } });
    expect((await listed(admin, '/v1/keys')).find(({ id }) => id === key.id).name).toBe(KEY_NAME);

    const sentHeaders: string[][] = [];
    const body = CHARACTERS.join('').repeat(2);
    const named = PROTOTYPE_NAMES.map((name) => `${name}: ${ASCII.slice(0, 30)}\r\n`).join('');
    const failing = await startReceiver((response, _, { rawHeaders }) => {
      sentHeaders.push(rawHeaders);
      response.socket?.end(`HTTP/1.1 500 No\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${named}\r\n${body}`);
    });
    const healthy = await startReceiver();
    const { id } = await createWebhook(live, failing.url, {
      description: DESCRIPTION,
      secret: SECRET,
      headers: HEADERS,
      events: ['document.created'],
    });
    const { id: healthyId } = await createWebhook(live, healthy.url);
    const [webhook] = (await listed(live, '/v1/webhooks')).filter((each) => each.id === id);
    expect(webhook.description).toBe(DESCRIPTION);
    expect(Object.entries(webhook.headers)).toEqual(Object.keys(HEADERS).map((name) => [name, '***']));

    const fields = namedFields();
    expect((await put(live, 'a:b', fields, { 'X-Node-Id': NODE })).status).toBe(201);
    expect((await live('GET', '/v1/documents/a:b')).body.fields).toEqual(fields);
    const data = { ...changed().data, document_key: WELL_FORMED, more: WELL_FORMED };
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThan(1900); // so its message contains the event
    const { text: published, body: other } = await publish(live, { type: 'document.changed', data });
    const [created] = await listed(live, '/v1/events?type=document.created');
    expect(created.data).toEqual({ document_key: 'a:b', revision: 1, fields, origin: NODE });
    const { text: stored } = await live('GET', `/v1/events/${created.id}`);
    expect(JSON.parse(stored)).toEqual(created);
    expect((await live('GET', `/v1/events/${other.id}`)).text).toBe(published);

    const { attempts } = await settled(live, id, created.id);
    const requests = receivedOf(failing, created.id);
    expect(requests.map((request) => request.body)).toEqual(Array(6).fill(stored));
    const signature = `sha256=${createHmac('sha256', SECRET).update(stored).digest('hex')}`;
    for (const { headers } of requests) expect(headers['x-service-signature']).toBe(signature);
    for (const raw of sentHeaders) expect(raw).toEqual(expect.arrayContaining(Object.entries(HEADERS).flat()));
    const excerpt = new TextDecoder()
      .decode(Buffer.from(body).subarray(0, 1024), { stream: true })
      .replace(REMOVED, '');
    for (const { request_headers, response_headers, response_excerpt } of attempts) {
      expect(Object.entries(request_headers)).toEqual(
        expect.arrayContaining(Object.keys(HEADERS).map((name) => [name, '***'])),
      );
      expect(Object.keys(response_headers)).toEqual(['Content-Length', ...PROTOTYPE_NAMES]);
      expect(response_excerpt).toBe(excerpt);
    }

    await healthy.until(2);
    expect([receivedOf(healthy, created.id)[0]?.body, receivedOf(healthy, other.id)[0]?.body]).toEqual([
      stored,
      published,
    ]);
    await settled(live, healthyId, other.id);
    const deliveries = await listed(live, `/v1/webhooks/${healthyId}/deliveries`);
    const { document_key } = deliveries.find(({ event_id }) => event_id === other.id);
    expect(document_key).toBe(WELL_FORMED);
    expect(cellsOf(csv([[document_key, ...CHARACTERS]]))).toEqual(
      [WELL_FORMED, ...CHARACTERS].map((cell) => (/^[=+\-@]|^[\t\r\n\0]/.test(cell) ? `'${cell}` : cell)),
    );

    const emails = await emailsTo(project, 2);
    expect(emails.map(({ subject }) => subject.split(':')[0])).toEqual(['Webhook failing', 'Webhook disabled']);
    for (const { subject, text } of emails) {
      expect(subject).toMatch(/^Webhook \w+: whk_\w+ \(127\.0\.0\.1:\d+\)$/);
      for (const part of [inert(PROJECT_NAME), inert(DESCRIPTION), inert(excerpt).replace(/^/gm, '> ')])
        expect(text).toContain(part);
      expect(text).not.toMatch(REMOVED);
    }
    expect(service.log.join('')).toContain(created.id);
    expect(service.log.join('')).not.toContain(MARKER);
  });

  it('has the same bytes in all 6 attempts, for every assigned character and noncharacter', async () => {
    const live = await (await service.project()).client('live');
    const texts = assignedTexts(MAX_DOCUMENT_BYTES - 100);
    expect(new Set(texts.join('')).size).toBeGreaterThan(280_000);
    const failing = await startReceiver(500);
    const webhooks: { id: string; secret: string; text: string }[] = [];
    for (const [i, text] of texts.entries()) {
      const subscription = { events: ['document.created'], documents: [`all:${i}`] };
      webhooks.push({ ...(await createWebhook(live, failing.url, subscription)), text });
    }
    for (const [i, text] of texts.entries()) expect((await put(live, `all:${i}`, { text })).status).toBe(201);
    for (const [i, { id, secret, text }] of webhooks.entries()) {
      const [event] = await listed(live, `/v1/events?document_key=all:${i}`);
      expect(event.data.fields.text === text).toBe(true);
      const { text: stored } = await live('GET', `/v1/events/${event.id}`);
      const { attempts } = await settled(live, id, event.id);
      expect(attempts.map(({ number }: Attempt) => number)).toEqual([1, 2, 3, 4, 5, 6]);
      const signature = `sha256=${createHmac('sha256', secret).update(stored).digest('hex')}`;
      const requests = receivedOf(failing, event.id);
      expect(requests.map(({ body }) => body === stored)).toEqual(Array(6).fill(true));
      for (const { headers } of requests) expect(headers['x-service-signature']).toBe(signature);
    }
  });
});
