import { describe, expect, it } from 'vitest';
import { emailSender } from '../../../lib/aws/email.ts';
import { runtimeWith } from '../../support/runtime.ts';

const [TO, OTHER] = ['a@example.com', 'b@example.com'];
const message = { projectId: 'prj_1', subject: 'S\u202e', text: 'T\u2028\u202eT', html: 'H\u0007' };
const sent: string[] = [];
const [rejection, illegal] = ['MessageRejected', 'InvalidParameterValue'].map((name) =>
  Object.assign(new Error(`Rejected: ${name}`), { name }),
) as [Error, Error];

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

  it.each([rejection, illegal])('reaches the others when SES rejects one, which is reported: $name', async (error) => {
    const { inputs, reported } = await send({ [TO]: error }, [TO, OTHER], 2);
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
