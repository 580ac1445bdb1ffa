import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'vitest';
import type { Answer } from '../../support/service.ts';
import type { Scene } from './scene.ts';

export type Act = (scene: Scene) => Promise<Answer>;

/**
 * How often another act can continue before the current one has ended. One switch finds lost updates and checks that another
 * request outdates, because the second act can then run completely between any two commands of the first.
 */
const MAX_SWITCHES = 1;
/** Turns of the event loop after which an act without a command counts as waiting for another act. */
const PATIENCE = 50;

/**
 * Races the acts in a new scene once for each order in which their commands to the table can follow each other, and calls `check`
 * after each race. There must be several orders, because acts that run one after another do not race.
 */
export async function everyInterleaving(
  prepare: () => Promise<Scene>,
  acts: readonly Act[],
  check: (answers: Answer[], scene: Scene) => unknown,
): Promise<void> {
  let choices: number[] = [];
  for (let runs = 1; ; runs++) {
    const options: number[] = [];
    const order: string[] = [];
    const scene = await prepare();
    const answers = await raced(scene, acts, choices, options, order);
    try {
      await check(answers, scene);
    } catch (error) {
      if (error instanceof Error) error.message += `\nThe commands of the requests in their order: ${order.join(', ')}`;
      throw error;
    }
    // Depth first: the last decision with another option takes it, and the later ones start again.
    let last = options.length - 1;
    while (last >= 0 && (choices[last] ?? 0) + 1 >= (options[last] ?? 0)) last--;
    if (last < 0) return void expect(runs, 'orders').toBeGreaterThan(1);
    choices = [...Array.from({ length: last }, (_, i) => choices[i] ?? 0), (choices[last] ?? 0) + 1];
  }
}

async function raced(
  scene: Scene,
  acts: readonly Act[],
  choices: readonly number[],
  options: number[],
  order: string[],
): Promise<Answer[]> {
  const { faults } = scene.service;
  const actor = new AsyncLocalStorage<number>();
  const waiting = new Map<number, (() => void)[]>();
  const done = new Set<number>();
  let current: number | undefined;
  let switches = 0;
  let idle = 0;
  faults.around = async ({ name }, perform) => {
    const id = actor.getStore();
    // Other services do not make two requests depend on each other.
    if (id === undefined || ['SendEmail', 'SendMessageBatch', 'CreateSchedule'].includes(name)) return perform();
    await new Promise<void>((go) => waiting.set(id, [...(waiting.get(id) ?? []), go]));
    order.push(`${id + 1} ${name}`);
    return perform();
  };
  const results = Promise.all(acts.map((act, id) => actor.run(id, () => act(scene).finally(() => done.add(id)))));
  results.catch(() => {}); // the caller awaits it below
  try {
    while (done.size < acts.length) {
      await new Promise((resolve) => setImmediate(resolve));
      const blocked = [...waiting].filter(([, each]) => each.length > 0);
      // An act can also wait for a command of another one, such as a value that both need.
      const isSettled = blocked.length + done.size === acts.length || ++idle > PATIENCE;
      if (!isSettled || blocked.length === 0) continue;
      idle = 0;
      const isCurrent = ([id]: (typeof blocked)[number]) => id === current;
      const canContinue = blocked.some(isCurrent);
      blocked.sort((a, b) => Number(isCurrent(b)) - Number(isCurrent(a)) || a[0] - b[0]);
      const choice = Math.min(choices[options.length] ?? 0, blocked.length - 1);
      options.push(canContinue && switches === MAX_SWITCHES ? 1 : blocked.length);
      // The parallel commands of one request run together.
      const [id, commands] = blocked[choice] ?? [];
      if (id === undefined || !commands) throw new Error('There is no such choice');
      if (canContinue && id !== current) switches++;
      current = id;
      waiting.set(id, []);
      for (const go of commands) go();
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    delete faults.around;
  }
  return results;
}
