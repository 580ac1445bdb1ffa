import { describe, expect, it } from 'vitest';
import { emailSender } from '../../../lib/aws/email.ts';
import { runtimeWith } from '../../support/runtime.ts';

const [TO, OTHER] = ['a@example.com', 'b@example.com'];
const message = { projectId: 'prj_1', subject: 'S\u202e', text: 'T\u2028\u202eT', html: 'H\u0007' };
const rejection = Object.assign(new Error('Not verified'), { name: 'MessageRejected' });

/** Sends an email, and returns the requests to SES and the reported failures. */
async function send(failures: Record<string, Error> = {}, to = [TO, OTHER]) {
  const inputs: object[] = [];
  const reported: unknown[] = [];
  const runtime = runtimeWith(
    async ({ input }) => {
      inputs.push(input);
      const failure = failures[input.Destination.ToAddresses[0]];
      if (failure) throw failure;
      return {};
    },
    { log: { info() {}, warn() {}, error: (event, { project_id }) => reported.push([event, project_id]) } },
  );
  await emailSender(runtime)({ ...message, to });
  return { inputs, reported };
}

describe('an email to several recipients', () => {
  it('is sent to each one alone, in visible characters, with the project as a tag', async () => {
    const parts = { Subject: { Data: 'S' }, Body: { Text: { Data: 'T T' }, Html: { Data: 'H' } } };
    const common = { Message: parts, ConfigurationSetName: 'emails', Tags: [{ Name: 'project', Value: 'prj_1' }] };
    const { inputs } = await send();
    expect(inputs).toMatchObject([TO, OTHER].map((to) => ({ ...common, Destination: { ToAddresses: [to] } })));
  });

  it('is not sent without recipients', async () => {
    expect(await send({}, [])).toEqual({ inputs: [], reported: [] });
  });

  it('reaches the others when SES rejects one, which is reported', async () => {
    const { inputs, reported } = await send({ [TO]: rejection });
    expect([inputs.length, reported]).toEqual([2, [['email.rejected', 'prj_1']]]);
  });

  it('fails when SES rejects all, or when SES fails', async () => {
    await expect(send({ [TO]: rejection, [OTHER]: rejection })).rejects.toThrow(rejection);
    await expect(send({ [TO]: new Error('Outage') })).rejects.toThrow('Outage');
  });
});
