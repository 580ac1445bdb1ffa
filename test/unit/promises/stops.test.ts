import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import { EMAIL_WINDOW_MS } from '../../../lib/emails/email-budget.ts';
import { RUNNING_MS } from '../../../lib/http/replay.ts';
import { SETTLE_MS } from '../../../lib/operators/deletion.ts';
import { isRead } from '../../support/runtime.ts';
import { type Changing, changing, newScene, PENDING, perform, type Scene, stateOf } from './scene.ts';
import { effectsOf, type Stop, stopped, stopsOf } from './stopping.ts';

/** A test email is reserved before it is sent. A lost one is not repeated, so that failures do not allow more emails. */
const TESTING: ReadonlySet<Changing> = new Set(['sendTestEmail', 'confirmEmail']);

/** The lease of a scene. */
const LEASE = { node_id: 'n', lease_seconds: 900 };

const subjects = (state: readonly string[]) => new Set(state.filter((text) => !text.startsWith('[')));
const items = (state: readonly string[]) => state.filter((text) => text.startsWith('[')).sort();

describe('a function that stops after any of its effects', () => {
  it.each(changing)('leaves nothing undone when its request is repeated: %s', async (id) => {
    const headers: Record<string, string> = operations[id].idempotencyKey ? { 'Idempotency-Key': 'same' } : {};
    const complete = await newScene(id);
    await perform(complete, id, { headers });
    const expected = await stateOf(complete);
    const count = await effectsOf((scene) => perform(scene, id, { headers }), id);
    expect(count).toBeGreaterThan(0);
    for (const stop of stopsOf(count)) {
      const scene = await newScene(id);
      await stopped(scene, () => perform(scene, id, { headers }), stop);
      scene.service.clock.skip(RUNNING_MS);
      const answer = await perform(scene, id, { headers });
      await scene.service.clock.advance(EMAIL_WINDOW_MS);
      const state = await stateOf(scene);
      const label = `after effect ${stop.effects} of ${count}, ${stop.order}, then ${answer.status}`;
      expect(items(state), label).toEqual(items(expected));
      // A summary replaces the email about a change whose function stopped.
      const isTold =
        [...subjects(expected)].every((subject) => state.includes(subject)) ||
        state.some((text) => text.startsWith('Summary'));
      expect(isTold || TESTING.has(id), label).toBe(true);
    }
  });
});

describe('the notice about a change', () => {
  it.each([
    'createKey',
    'rotateKey',
    'changeProject',
  ] as const)('is not lost when its function stops after any effect, and the next email fails: %s', async (id) => {
    for (const stop of stopsOf(await effectsOf((scene) => perform(scene, id)))) {
      const scene = await newScene();
      const { service } = scene;
      const changes = () => [...service.db.items()].filter(({ pk }) => String(pk).startsWith('AUDIT#')).length;
      const before = changes();
      await stopped(scene, () => perform(scene, id), stop);
      service.faults.email = new Error('Outage');
      await perform(scene, 'createKey');
      delete service.faults.email;
      await service.clock.advance(EMAIL_WINDOW_MS);
      const told = service.emails.map(({ text }) =>
        Number(/(\d+) changes? (is|are) in the audit log/.exec(text)?.[1] ?? 1),
      );
      const sum = told.reduce((all, each) => all + each, 0);
      expect(sum, `after effect ${stop.effects}, ${stop.order}`).toBeGreaterThanOrEqual(changes() - before);
    }
  });
});

describe('a command of the operator that stops after any of its effects', () => {
  it.each(['suspend', 'resume'])('leaves nothing undone when it is repeated: %s', async (operation) => {
    let effects = 0;
    const stateAfter = async (stop?: Stop) => {
      const scene = await newScene(...PENDING);
      const { service, projectId: id } = scene;
      if (operation === 'resume') await service.administer({ operation: 'suspend', id });
      const perform = () => service.administer({ operation, id });
      if (stop) await stopped(scene, perform, stop);
      service.faults.around = ({ name }, act) => {
        if (!isRead(name)) effects++;
        return act();
      };
      await perform();
      return stateOf(scene);
    };
    const complete = await stateAfter();
    expect(effects).toBeGreaterThan(0);
    for (const stop of stopsOf(effects)) expect(await stateAfter(stop), `effect ${stop.effects}`).toEqual(complete);
  });
});

describe('a consumer of delayed messages', () => {
  it.each<[string, (scene: Scene) => Promise<unknown>]>([
    ['the check of a connection', ({ admin }) => admin('PUT', '/v1/connections/phone', { body: LEASE })],
    [
      'the summary of emails',
      async (scene) => {
        for (let n = 0; n < 8; n++) await perform(scene, 'createKey', { n });
      },
    ],
  ])('leaves nothing undone when any of its effects fails once: %s', async (_, cause) => {
    const afterFailure = async (failing: number) => {
      const scene = await newScene('renewConnection');
      const { clock, faults } = scene.service;
      await clock.advance(LEASE.lease_seconds * 500);
      await cause(scene);
      let effects = 0;
      faults.aroundAll = async ({ name }, act) => {
        if (!isRead(name) && ++effects === failing) throw new Error('The call failed');
        return act();
      };
      const state = new Set(await stateOf(scene)); // a summary can be sent twice
      return { state, effects };
    };
    const { state, effects } = await afterFailure(0);
    expect(effects).toBeGreaterThan(1);
    for (let failing = 1; failing <= effects; failing++)
      expect((await afterFailure(failing)).state, `effect ${failing} of ${effects}`).toEqual(state);
  });
});

describe('the work of a project that is deleted before it is done', () => {
  it.each(changing)('fails nowhere, and leaves only the record of the deletion: %s', async (operation) => {
    const scene = await newScene(...PENDING, operation);
    const { service, projectId: id } = scene;
    await perform(scene, operation);
    const { name } = (await service.administer({ operation: 'show', id })) as { name: string };
    const remove = () => service.administer({ operation: 'delete', id, name });
    await remove();
    await service.clock.advance(SETTLE_MS);
    expect(await remove()).toMatchObject({ state: 'deleted' });
    await service.settle();
    expect(service.failures).toEqual([]);
    expect([...service.db.items()].map(({ pk }) => pk).sort()).toEqual([`DELETION#${id}`, 'VERSION#LAYOUT']);
  });
});
