import { describe, expect, it, vi } from 'vitest';
import { create } from '../../../functions/email-events.ts';
import { emailSender } from '../../../lib/aws/email.ts';
import { projects } from '../../../lib/projects/store.ts';
import { newKey, newProject } from '../../memory/contracts/builders.ts';
import { memoryBackend } from '../../support/memory-table.ts';
import { runtimeWith } from '../../support/runtime.ts';

const [TO, OTHER] = ['a@example.com', 'b@example.com'];
const message = { projectId: 'prj_1', subject: 'S\u202e', text: 'T\u2028\u202eT', html: 'H\u0007' };
const sent: string[] = [];
const rejection = Object.assign(new Error('Not verified'), { name: 'MessageRejected' });

/** Sends an email, or the same one several times, and returns the requests to SES and the reported failures. */
async function send(failures: Record<string, Error> = {}, to = [TO, OTHER], times = 1) {
  const inputs: object[] = [];
  const reported: unknown[] = [];
  const runtime = runtimeWith(
    async ({ input }) => {
      inputs.push(input);
      const [address] = input.Destination.ToAddresses;
      if (failures[address]) throw failures[address];
      await new Promise(setImmediate);
      sent.push(address);
      return {};
    },
    { log: { info() {}, warn() {}, error: (event, { project_id }) => reported.push([event, project_id]) } },
  );
  const sendEmail = emailSender(runtime);
  for (let i = 0; i < times; i++) await sendEmail({ ...message, to });
  return { inputs, reported };
}

describe('an email to several recipients', () => {
  it('is sent to each one alone, in visible characters, with the project as a tag', async () => {
    const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });
    const parts = { Subject: utf8('S'), Body: { Text: utf8('T T'), Html: utf8('H') } };
    const common = { Message: parts, ConfigurationSetName: 'emails', Tags: [{ Name: 'project', Value: 'prj_1' }] };
    const { inputs } = await send();
    expect(inputs).toMatchObject([TO, OTHER].map((to) => ({ ...common, Destination: { ToAddresses: [to] } })));
  });

  it('is not sent without recipients', async () => {
    expect(await send({}, [])).toEqual({ inputs: [], reported: [] });
  });

  it('reaches the others when SES rejects one, which is reported', async () => {
    const { inputs, reported } = await send({ [TO]: rejection }, [TO, OTHER], 2);
    const rejected = ['email.rejected', 'prj_1'];
    expect([inputs.length, reported]).toEqual([4, [rejected, rejected]]);
  });

  it('fails when SES rejects all, or when SES fails, after the others were sent', async () => {
    sent.length = 0;
    await expect(send({ [TO]: rejection, [OTHER]: rejection })).rejects.toThrow(rejection);
    await expect(send({ [TO]: new Error('Outage') })).rejects.toThrow('Outage');
    expect(sent).toEqual([OTHER]);
  });
});

const project = newProject({ emails: [TO, OTHER] });

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
const { create: store, get } = projects(table);
await store(project, newKey({ projectId: project.id }));

/** Handles an event, and returns the marks of the addresses of the project. */
async function marks(event: object) {
  await create(runtime)(event, {} as never);
  const { undeliverable = [] } = (await get(project.id)) ?? {};
  return undeliverable.map(({ email, reason }) => [email, reason]);
}

it('stops the emails to an address only after a permanent bounce, and logs how many it stopped', async () => {
  const info = vi.spyOn(runtime.log, 'info');
  for (const type of ['Transient', 'Undetermined']) expect(await marks(eventOf(bounce(type)))).toEqual([]);
  expect(await marks(eventOf(bounce('Permanent')))).toEqual([['a@example.com', 'bounced']]);
  const counts = info.mock.calls.map(([, fields]) => fields);
  expect(counts).toMatchObject([{ bounced: 0 }, { bounced: 0 }, { bounced: 1, complained: 0 }]);
});

it('reports an event that it cannot read, and fails', async () => {
  const reported = vi.spyOn(runtime.log, 'error');
  await expect(marks({ detail: { mail: { tags: {} }, ...bounce('Permanent') } })).rejects.toThrow();
  expect(reported.mock.calls).toMatchObject([['email_event.failed', {}]]);
});
