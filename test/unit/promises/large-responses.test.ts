import { describe, expect, it } from 'vitest';
import { RUNNING_MS } from '../../../lib/http/replay.ts';
import { changed } from '../../support/changed.ts';
import { listed } from '../../support/documents.ts';
import type { Act } from './interleavings.ts';
import { newScene } from './scene.ts';
import { effectsOf, stopped, stopsOf } from './stopping.ts';

describe('a response that is stored in several parts', () => {
  const large = changed({ note: 'x'.repeat(200_000) });
  const events = Array.from({ length: 5 }, () => changed({ note: 'x'.repeat(40_000) }));

  /** Events whose response is not stored, because a repetition reads them. */
  const many = Array.from({ length: 4 }, () => changed({ note: 'x'.repeat(200_000) }));

  it.each([
    ['/v1/events', large, [large]],
    ['/v1/events/batch', { events }, events],
    ['/v1/events/batch', { events: many }, many],
  ])('is replayed completely, or the request runs again for the same events, after any of its effects: %s', async (path, body, expected) => {
    const act: Act = ({ admin }) => admin('POST', path, { body, headers: { 'Idempotency-Key': 'same' } });
    for (const stop of stopsOf(await effectsOf(act))) {
      const scene = await newScene();
      const send = () => act(scene);
      await stopped(scene, send, stop);
      scene.service.clock.skip(RUNNING_MS);
      const answer = await send();
      const label = `after effect ${stop.effects}, ${stop.order}`;
      const published = answer.body.id ? [answer.body] : answer.body.data;
      expect([answer.status, published], label).toMatchObject([202, expected]);
      expect(await listed(scene.admin, `/v1/events?document_key=${large.data.document_key}`), label).toHaveLength(
        published.length,
      );
    }
  });

  const text = 'x'.repeat(64_000);
  it.each<[string, string, (n: number) => object]>([
    ['a PUT', 'PUT', (n) => ({ fields: { a: text, b: text, n } })],
    ['a PATCH with a conflict', 'PATCH', (n) => ({ fields: { a: text, b: text, n }, base_revision: 0 })],
  ])('is part of the transaction of the write, so that a repetition keeps a later change: %s', async (_, method, bodyOf) => {
    const act: Act = ({ admin }) =>
      admin(method, '/v1/documents/doc', { body: bodyOf(1), headers: { 'Idempotency-Key': 'same' } });
    let applied = 0;
    const stops = stopsOf(await effectsOf(act));
    for (const stop of stops) {
      const scene = await newScene();
      const read = async () => (await scene.admin('GET', '/v1/documents/doc')).body;
      await stopped(scene, () => act(scene), stop);
      const isApplied = (await read()).fields.n === 1;
      if (isApplied) applied++;
      await scene.admin('PATCH', '/v1/documents/doc', { body: { fields: { n: 'later' } } });
      scene.service.clock.skip(RUNNING_MS);
      const answer = await act(scene);
      const label = `after effect ${stop.effects}, ${stop.order}`;
      expect([answer.status, answer.body.revision, answer.body.fields.n], label).toEqual([200, isApplied ? 2 : 3, 1]);
      expect((await read()).fields.n, label).toBe(isApplied ? 'later' : 1);
    }
    expect(applied).toBeGreaterThan(0);
    expect(applied).toBeLessThan(stops.length);
  });
});
