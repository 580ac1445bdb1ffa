import { describe, expect, it } from 'vitest';
import { RUNNING_MS } from '../../../lib/http/idempotency.ts';
import { operations } from '../../../lib/http/operations.ts';
import { EMAIL_WINDOW_MS } from '../../../lib/projects/email-budget.ts';
import { type Changing, changing, newScene, perform, type Scene, stateOf } from './scene.ts';

/** A test email is reserved before it is sent. A lost one is not repeated, so that failures do not allow more emails. */
const TESTING: ReadonlySet<Changing> = new Set(['sendTestEmail', 'confirmEmail']);

const isRead = (name: string): boolean => ['Get', 'BatchGet', 'Query', 'Scan'].includes(name);

/** Performs the request, and stops its function after some effects. Its last effect has no response. */
async function stoppedAfter(
  scene: Scene,
  id: Changing,
  headers: Record<string, string>,
  effects: number,
): Promise<boolean> {
  const { faults } = scene.service;
  let left = effects;
  let isStopped = false;
  const ended = new Promise<void>((resolve) => {
    faults.around = async ({ name }, act) => {
      if (left > 0 || isRead(name)) {
        const result = await act();
        if (isRead(name) || --left > 0) return result;
      }
      isStopped = true;
      resolve();
      return new Promise(() => {});
    };
    perform(scene, id, headers).then(() => resolve(), resolve);
  });
  await ended;
  delete faults.around;
  return isStopped;
}

/** The effects of a request that nothing stops. */
async function effectsOf(id: Changing, headers: Record<string, string>): Promise<number> {
  const scene = await newScene();
  let effects = 0;
  scene.service.faults.around = ({ name }, act) => {
    if (!isRead(name)) effects++;
    return act();
  };
  expect((await perform(scene, id, headers)).status).toBeLessThan(300);
  return effects;
}

const subjects = (state: readonly string[]) => new Set(state.filter((text) => !text.startsWith('[')));
/** A repeated cycle pushes and pulls again, so its counts differ. */
const items = (state: readonly string[]) =>
  state
    .filter((text) => text.startsWith('['))
    .map((text) => text.replace(/\\"pu(sh|ll)ed\\":\d+/g, ''))
    .sort();

describe('a function that stops after any of its effects', () => {
  it.each(changing)('leaves nothing undone when its request is repeated: %s', async (id) => {
    const headers: Record<string, string> = operations[id].creates ? { 'Idempotency-Key': 'same' } : {};
    const complete = await newScene();
    await perform(complete, id, headers);
    const expected = await stateOf(complete);
    const count = await effectsOf(id, headers);
    expect(count).toBeGreaterThan(0);
    for (let effects = 0; effects <= count; effects++) {
      const scene = await newScene();
      await stoppedAfter(scene, id, headers, effects);
      scene.service.clock.skip(RUNNING_MS);
      const answer = await perform(scene, id, headers);
      await scene.service.clock.advance(EMAIL_WINDOW_MS);
      const state = await stateOf(scene);
      const label = `after effect ${effects} of ${count}, then ${answer.status}`;
      expect(items(state), label).toEqual(items(expected));
      // A summary replaces the email about a change whose function stopped.
      const isTold =
        [...subjects(expected)].every((subject) => state.includes(subject)) ||
        state.some((text) => text.startsWith('Summary'));
      expect(isTold || TESTING.has(id), label).toBe(true);
    }
  });
});
