import { describe, expect, it } from 'vitest';
import { HOSTILE_HOST } from '../http/builders.ts';
import { newScene, type Performed, perform, performed, plainJson } from './scene.ts';

/** What a request causes: its response, and all emails until its work is done. */
async function outcomeOf(id: Performed, headers: Record<string, string>, query = ''): Promise<string> {
  const scene = await newScene(id);
  const emails = scene.service.emails.length;
  const { status, headers: received, body } = await perform(scene, id, { headers, query });
  await scene.service.settle();
  return plainJson({ status, received, body, emails: scene.service.emails.slice(emails) });
}

describe('the host that a request names', () => {
  it.each(performed)('changes no response and no email: %s', async (id) => {
    const expected = await outcomeOf(id, {});
    expect(await outcomeOf(id, HOSTILE_HOST)).toBe(expected);
    expect(expected).not.toContain('evil');
    const rejected = await outcomeOf(id, {}, '?unknown=1');
    expect(rejected).toContain('http://127.0.0.1:3000/docs/errors#invalid_request');
    expect(await outcomeOf(id, HOSTILE_HOST, '?unknown=1')).toBe(rejected);
  });
});
