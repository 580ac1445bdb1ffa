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
const complaint = {
  eventType: 'Complaint',
  complaint: { complainedRecipients: [{ emailAddress: 'a@example.com' }], complaintFeedbackType: 'abuse' },
};

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

it.each<[string, object, string[][]]>([
  ['a permanent bounce', bounce('Permanent'), [['a@example.com', 'bounced']]],
  ['a complaint', complaint, [['a@example.com', 'complained']]],
  ['no temporary bounce', bounce('Transient'), []],
  ['no bounce of an unknown type', bounce('Undetermined'), []],
])('stops the emails to an address after %s', async (_, detail, marked) => {
  expect(await marks(eventOf(detail))).toEqual(marked);
});

it('reports an event that it cannot read, and fails', async () => {
  const reported = vi.spyOn(runtime.log, 'error');
  await expect(marks({ detail: { mail: { tags: {} }, ...bounce('Permanent') } })).rejects.toThrow();
  expect(reported.mock.calls).toMatchObject([['email_event.failed', {}]]);
});
