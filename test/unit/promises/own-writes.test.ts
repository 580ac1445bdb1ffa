import { describe, expect, it } from 'vitest';
import { operations } from '../../../lib/api/operations.ts';
import type { Operation } from '../../../lib/http/operation.ts';
import { isRead } from '../../support/runtime.ts';
import { changing, newScene, type Performed, perform, plainJson } from './scene.ts';

/** The operations that return what they changed. */
const returning = changing.filter((id) => Object.values((operations[id] as Operation).responses).some(Boolean));

/**
 * Performs an operation. Another request follows its last write before the function continues. Returns the response, without the
 * other request if it is `undefined`.
 */
async function responseOf(id: Performed, other: Performed | undefined): Promise<string> {
  const scene = await newScene(id);
  const { faults } = scene.service;
  // The budget of emails is no part of the resource. It is written after the change, too.
  const isChange = (name: string, input: unknown) => !isRead(name) && !JSON.stringify(input).includes('"EMAILS#');
  let left = other ? await writesOf(id, isChange) : 0;
  faults.around = async ({ name, input }, act) => {
    const done = await act();
    if (!isChange(name, input) || --left !== 0 || !other) return done;
    const { around } = faults;
    delete faults.around;
    await perform(scene, other, { n: 1 });
    faults.around = around as NonNullable<typeof around>;
    return done;
  };
  const { status, body } = await perform(scene, id);
  delete faults.around;
  expect(status, id).toBeLessThan(300);
  return plainJson(body);
}

async function writesOf(id: Performed, isChange: (name: string, input: unknown) => boolean): Promise<number> {
  const scene = await newScene(id);
  let writes = 0;
  scene.service.faults.around = ({ name, input }, act) => {
    if (isChange(name, input)) writes++;
    return act();
  };
  await perform(scene, id);
  return writes;
}

/** The later changes of each resource, which could show in the response. */
const LATER: Readonly<Partial<Record<Performed, readonly Performed[]>>> = {
  changeKey: ['setAllowlist'],
  rotateKey: ['revokeKey'],
  changeWebhook: ['rotateSecret', 'deleteWebhook'],
  rotateSecret: ['changeWebhook', 'deleteWebhook'],
  redeliver: ['changeWebhook', 'deleteWebhook'],
  recover: ['deleteWebhook'],
  putDocument: ['patchDocument', 'deleteDocument'],
  patchDocument: ['putDocument', 'deleteDocument'],
  sync: ['putDocument'],
  renewConnection: ['closeConnection'],
  sendConfirmation: ['changeProject'],
  confirmEmail: ['changeProject'],
};

describe('a response to a change', () => {
  it.each(returning)('describes what the request wrote, and no later change: %s', async (id) => {
    const expected = await responseOf(id, undefined);
    for (const other of [id, ...(LATER[id] ?? [])]) expect(await responseOf(id, other), other).toBe(expected);
  });
});
