import { expect, it } from 'vitest';
import { code } from '../../support/documents.ts';
import { type Act, everyInterleaving } from './interleavings.ts';
import { newScene, perform, type Scene, stateOf } from './scene.ts';
import { effectsOf, stopped, stopsOf } from './stopping.ts';

/** A push of each kind, with each result. The document `doc` has revision 1 in a scene. */
const change = { op: 'patch', document_key: 'doc', base_revision: 1 };
const PUSHES = [
  { ...change, fields: { mine: 1 } },
  { ...change, base_revision: 0, fields: { a: 'other' }, on_conflict: 'reject' },
  { ...change, base_revision: 0, fields: { a: 'mine' } },
  { ...change, fields: { mine: 1 } },
  { op: 'put', document_key: 'new', base_revision: 0, fields: { n: 1 } },
  { op: 'delete', document_key: 'new', base_revision: 0 },
  { op: 'put', document_key: 'a b', base_revision: 0, fields: {} },
];
const cycle: Act = (scene) => perform(scene, 'sync', { members: { push: PUSHES } });
const resultsOf = async (scene: Scene) => (await cycle(scene)).body.results;

it('a cycle whose function stops after any effect has each push once, and returns the same results to a repetition', async () => {
  const complete = await newScene();
  const results = await resultsOf(complete);
  const statuses = results.map(({ status }: { status: string }) => status);
  expect(statuses).toEqual(['applied', 'rejected', 'merged', 'unchanged', 'applied', 'applied', 'rejected']);
  const expected = await stateOf(complete);
  for (const stop of stopsOf(await effectsOf(cycle))) {
    const scene = await newScene();
    await stopped(scene, () => cycle(scene), stop);
    const label = `after effect ${stop.effects}, ${stop.order}`;
    for (const _ of ['repeated', 'repeated again']) expect(await resultsOf(scene), label).toEqual(results);
    expect(await stateOf(scene), label).toEqual(expected);
  }
});

it('two functions that run one cycle at the same time apply each push once, and return the same results', async () => {
  const complete = await newScene();
  const results = await resultsOf(complete);
  const expected = await stateOf(complete);
  await everyInterleaving(newScene, [cycle, cycle], async (answers, scene) => {
    for (const { body } of answers) expect(body.results).toEqual(results);
    expect(await stateOf(scene)).toEqual(expected);
  });
});

it('a repetition with other pushes returns 409 and changes nothing', async () => {
  const scene = await newScene();
  await cycle(scene);
  const before = await stateOf(scene);
  const push = PUSHES.map((each, i) => (i === 4 ? { ...each, fields: { n: 2 } } : each));
  expect(code(await perform(scene, 'sync', { members: { push } }))).toEqual([409, 'conflict']);
  expect(await stateOf(scene)).toEqual(before);
});
