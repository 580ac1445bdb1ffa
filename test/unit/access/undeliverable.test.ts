import { describe, expect, it } from 'vitest';
import type { Email } from '../../../lib/projects/emails.ts';
import type { ProjectRecord, UndeliverableEmail } from '../../../lib/projects/project.ts';
import { stopEmails } from '../../../lib/projects/undeliverable.ts';

const PROJECT: ProjectRecord = {
  id: 'prj_1',
  name: 'Test',
  emails: ['A@example.com', 'b@example.com', 'c@example.com'],
  cursorSecret: 'secret',
  createdAt: 0,
};
const OLD: UndeliverableEmail = { email: 'c@example.com', reason: 'complained', at: 1 };

/** Stops emails to an address and returns the effects in their order. */
async function effectsOf(address: string, project: ProjectRecord | undefined = PROJECT, isSesDown = false) {
  const effects: { email?: Email; mark?: UndeliverableEmail }[] = [];
  const stopped = stopEmails('prj_1', address, 'bounced', {
    projects: {
      get: async () => project,
      markUndeliverable: async (_id, mark) => void effects.push({ mark }),
    },
    sendEmail: async (email) => {
      effects.push({ email });
      if (isSesDown) throw new Error('SES is down');
    },
    clock: () => 2,
  });
  await stopped.catch(() => {});
  return effects;
}

describe('a report of an undeliverable address', () => {
  it('notifies the other addresses that receive emails, and then marks the address', async () => {
    const effects = await effectsOf('A@example.com', { ...PROJECT, undeliverable: [OLD] });
    expect(effects).toMatchObject([
      { email: { to: ['b@example.com'], subject: 'Emails do not arrive: A@example.com (Test)' } },
      { mark: { email: 'A@example.com', reason: 'bounced', at: 2 } },
    ]);
  });

  it('applies to the address in any case, and marks it as the project contains it', async () => {
    expect((await effectsOf('a@EXAMPLE.com')).at(-1)).toEqual({
      mark: { email: 'A@example.com', reason: 'bounced', at: 2 },
    });
  });

  it('marks nothing when the email fails, so that the next report repeats it', async () => {
    const effects = await effectsOf('A@example.com', PROJECT, true);
    expect(effects.filter(({ mark }) => mark)).toEqual([]);
  });

  it.each([
    ['that is already marked', OLD.email, { ...PROJECT, undeliverable: [OLD] }],
    ['that the project no longer has', 'd@example.com', PROJECT],
    ['of a deleted project', 'A@example.com', undefined],
  ])('has no effect for an address %s', async (_name, address, project) => {
    const get = async () => project;
    const fail = async () => expect.unreachable();
    await stopEmails('prj_1', address, 'bounced', {
      projects: { get, markUndeliverable: fail },
      sendEmail: fail,
      clock: () => 2,
    });
  });
});
