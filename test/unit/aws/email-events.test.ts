import { beforeEach, expect, it, vi } from 'vitest';
import { create } from '../../../functions/email-events.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';

const emails = ['a@example.com', 'b@example.com'];
const project = newProject({ emails });

/** Event data as in the SES Developer Guide, "Examples of event data", with the members that EventBridge adds. */
const eventOf = (detail: object) => ({
  'detail-type': 'Email Bounced',
  source: 'aws.ses',
  detail: { mail: { tags: { project: [project.id], 'ses:from-domain': ['example.com'] } }, ...detail },
});
const bounce = (bounceType: string) => ({
  eventType: 'Bounce',
  bounce: {
    bounceType,
    bounceSubType: 'General',
    bouncedRecipients: [{ emailAddress: 'a@example.com', action: 'failed', status: '5.1.1' }],
  },
});

const { runtime, table } = memoryBackend({}, ({ name }) =>
  ['SendEmail', 'SendMessageBatch'].includes(name) ? {} : undefined,
);
const { create: store, change, get } = projects(table);
await store(project, newKey({ projectId: project.id }));
beforeEach(() => change(project.id, { undeliverable: undefined }, []));

/** Handles an event, and returns the marks of the addresses of the project. */
async function marks(event: object) {
  await create(runtime)(event, {} as never);
  const { undeliverable = [] } = (await get(project.id)) ?? {};
  return undeliverable.map(({ email, reason }) => [email, reason]);
}

it('stops emails to an address that bounces permanently', async () => {
  expect(await marks(eventOf(bounce('Permanent')))).toEqual([['a@example.com', 'bounced']]);
});

it.each(['Transient', 'Undetermined'])('ignores a bounce of the type %s', async (type) => {
  expect(await marks(eventOf(bounce(type)))).toEqual([]);
});

it('stops emails to an address that complains', async () => {
  const complaint = { complainedRecipients: [{ emailAddress: 'a@example.com' }], complaintFeedbackType: 'abuse' };
  expect(await marks(eventOf({ eventType: 'Complaint', complaint }))).toEqual([['a@example.com', 'complained']]);
});

it('reports an event that it cannot read, and fails', async () => {
  const reported = vi.spyOn(runtime.log, 'error');
  await expect(marks({ detail: { mail: { tags: {} }, ...bounce('Permanent') } })).rejects.toThrow();
  expect(reported.mock.calls).toMatchObject([['email_event.failed', {}]]);
});
