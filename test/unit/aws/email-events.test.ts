import { expect, it, vi } from 'vitest';
import { connect } from '../../../lib/aws/backend.ts';
import { emailEventsConsumer } from '../../../lib/projects/consumers.ts';
import { runtimeWith } from '../../support/runtime.ts';

/** Event data as in the SES Developer Guide, "Examples of event data", with the members that EventBridge adds. */
const eventOf = (detail: object) => ({
  'detail-type': 'Email Bounced',
  source: 'aws.ses',
  detail: { mail: { tags: { project: ['prj_1'], 'ses:from-domain': ['example.com'] } }, ...detail },
});
const bounce = (bounceType: string) => ({
  eventType: 'Bounce',
  bounce: {
    bounceType,
    bounceSubType: 'General',
    bouncedRecipients: [{ emailAddress: 'a@example.com', action: 'failed', status: '5.1.1' }],
  },
});

const backend = connect(runtimeWith(async () => ({})));

async function stopped(event: unknown) {
  const stop = vi.fn(async () => {});
  await emailEventsConsumer({ stop }, backend)(event);
  return stop.mock.calls;
}

it('stops emails to an address that bounces permanently', async () => {
  expect(await stopped(eventOf(bounce('Permanent')))).toEqual([['prj_1', 'a@example.com', 'bounced']]);
});

it.each(['Transient', 'Undetermined'])('ignores a bounce of the type %s', async (type) => {
  expect(await stopped(eventOf(bounce(type)))).toEqual([]);
});

it('stops emails to an address that complains', async () => {
  const complaint = { complainedRecipients: [{ emailAddress: 'a@example.com' }], complaintFeedbackType: 'abuse' };
  expect(await stopped(eventOf({ eventType: 'Complaint', complaint }))).toEqual([
    ['prj_1', 'a@example.com', 'complained'],
  ]);
});

it('reports an event that it cannot read, and fails', async () => {
  const reported = vi.spyOn(backend.log, 'error');
  await expect(stopped({ detail: { mail: { tags: {} }, ...bounce('Permanent') } })).rejects.toThrow();
  expect(reported.mock.calls).toMatchObject([['email_event.failed', {}]]);
});
