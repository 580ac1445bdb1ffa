import { expect } from 'vitest';
import { isRead } from '../../support/runtime.ts';
import type { Act } from './interleavings.ts';
import { newScene, type Performed, type Scene } from './scene.ts';

/** Where a function stops: after this many effects. Effects that it causes at the same time can happen in any order. */
export interface Stop {
  effects: number;
  order: 'first to last' | 'last to first';
}

/** Every place where a function with so many effects can stop. */
export const stopsOf = (count: number): Stop[] =>
  Array.from({ length: count + 1 }, (_, effects) => effects).flatMap((effects) => [
    { effects, order: 'first to last' },
    { effects, order: 'last to first' },
  ]);

function inOrder(order: Stop['order']) {
  const waiting: (() => void)[] = [];
  return (effect: () => Promise<object>) =>
    new Promise<object>((resolve) => {
      waiting.push(() => resolve(effect()));
      if (waiting.length > 1) return;
      setImmediate(() => {
        const starts = waiting.splice(0);
        for (const start of order === 'first to last' ? starts : starts.reverse()) start();
      });
    });
}

/** Performs the request, and stops its function. Its last effect has no response. */
export async function stopped({ service: { faults } }: Scene, send: () => Promise<unknown>, stop: Stop): Promise<void> {
  const happens = inOrder(stop.order);
  let left = stop.effects;
  const ended = new Promise<void>((resolve) => {
    faults.around = ({ name }, act) => {
      if (isRead(name)) return act();
      return happens(async () => {
        if (left-- > 1) return act();
        if (left === 0) await act();
        resolve();
        return new Promise(() => {});
      });
    };
    send().then(() => resolve(), resolve);
  });
  await ended;
  delete faults.around;
}

/** The number of effects of a request that nothing stops. */
export async function effectsOf(send: Act, ...ids: readonly Performed[]): Promise<number> {
  const scene = await newScene(...ids);
  let effects = 0;
  scene.service.faults.around = ({ name }, act) => {
    if (!isRead(name)) effects++;
    return act();
  };
  expect((await send(scene)).status).toBeLessThan(300);
  return effects;
}
