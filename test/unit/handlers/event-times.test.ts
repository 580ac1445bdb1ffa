import { beforeEach, describe, expect, it } from 'vitest';
import { changed } from '../../support/changed.ts';
import { code, listed } from '../../support/documents.ts';
import { memoryService } from '../../support/memory-service.ts';
import { createWebhook } from '../../support/requests.ts';
import type { Client } from '../../support/service.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const service = memoryService();
let live: Client;

beforeEach(async () => {
  live = await (await service.project()).client('live');
});

const iso = (ms: number) => new Date(ms).toISOString();
const publish = (occurred_at: unknown, headers = {}) =>
  live('POST', '/v1/events', { body: { ...changed(), occurred_at }, headers });
const publishAll = (times: unknown[]) =>
  live('POST', '/v1/events/batch', { body: { events: times.map((occurred_at) => ({ ...changed(), occurred_at })) } });

describe('the time of a published event', () => {
  it('is delivered and listed with the event, to the millisecond and in UTC', async () => {
    const endpoint = service.endpoint();
    await createWebhook(live, endpoint.url, { events: ['document.changed'] });
    const acceptedAt = service.clock.now() + 1; // the clock advances with each request
    const { status, body } = await publish('2026-01-31T12:59:30.123456+01:00');
    expect([status, body.timestamp, body.occurred_at]).toEqual([202, iso(acceptedAt), '2026-01-31T11:59:30.123Z']);
    expect(Object.keys(body)).toEqual(['id', 'type', 'timestamp', 'occurred_at', 'data']);
    await service.settle();
    expect(JSON.parse(String(endpoint.received[0]?.body))).toEqual(body);
    expect(await listed(live, '/v1/events')).toEqual([body]);
  });

  it('is different for each event of a batch, and absent if the publisher does not send it', async () => {
    const times = [1000, 2000].map((ms) => iso(service.clock.now() - ms));
    const { data } = (await publishAll([...times, undefined])).body;
    expect(data.map((event: { occurred_at?: string }) => event.occurred_at)).toEqual([...times, undefined]);
    expect(Object.keys(data[2])).toEqual(['id', 'type', 'timestamp', 'data']);
    expect(new Set(data.map((event: { timestamp: string }) => event.timestamp)).size).toBe(1);
  });

  it('is at most 30 days ago and 5 minutes in the future', async () => {
    const statusAt = async (distanceMs: number) => {
      const answer = await publish(iso(service.clock.now() + 1 + distanceMs));
      return answer.status === 400 ? answer.body.errors : answer.status;
    };
    const violations = [{ field: 'occurred_at', detail: 'must be at most 30 days ago, and not in the future' }];
    for (const inRange of [-30 * DAY_MS, 0, 300_000]) expect(await statusAt(inRange)).toBe(202);
    for (const outside of [-30 * DAY_MS - 1, 300_001]) expect(await statusAt(outside)).toEqual(violations);
  });

  it('is rejected for the whole batch, with every violation', async () => {
    const wrong = [iso(service.clock.now() - 31 * DAY_MS), 'yesterday', 1, null];
    const { status, body } = await publishAll([iso(service.clock.now()), ...wrong]);
    expect(status).toBe(400);
    const fields = body.errors.map(({ field }: { field: string }) => field).sort();
    expect(fields).toEqual(wrong.map((_, i) => `events[${i + 1}].occurred_at`));
    expect(await listed(live, '/v1/events')).toEqual([]);
  });

  it('replays a response after the time has left the range', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const time = iso(service.clock.now() - 30 * DAY_MS + 60_000);
    const first = await publish(time, headers);
    await service.clock.advance(120_000);
    expect(code(await publish(time))).toEqual([400, 'invalid_request']);
    expect(await publish(time, headers)).toMatchObject({ status: 202, body: first.body });
  });

  it('does not decide which events a list contains', async () => {
    const { body } = await publish(iso(service.clock.now() - DAY_MS));
    const since = iso(service.clock.now() - 1000);
    expect(await listed(live, `/v1/events?since=${since}`)).toEqual([body]);
    expect(await listed(live, `/v1/events?until=${since}`)).toEqual([]);
  });

  it('is no member of a test event', async () => {
    const { id } = await createWebhook(live, 'https://example.com/hook');
    const body = { ...changed(), occurred_at: iso(service.clock.now()) };
    expect((await live('POST', `/v1/webhooks/${id}/test`, { body })).body.errors).toEqual([
      { field: 'occurred_at', detail: 'is not a known field' },
    ]);
  });
});
