import { beforeEach, describe, expect, it } from 'vitest';
import { emailSender } from '../../../lib/aws/email.ts';
import { adminKeyCreated, noticeEmail } from '../../../lib/projects/notices.ts';
import { runtimeWith } from '../../support/runtime.ts';

it('sends no characters that change the direction of a notice or add lines to it', async () => {
  const sent: { Data?: string }[] = [];
  const runtime = runtimeWith(async ({ input: { Message } }) => {
    sent.push(Message.Subject, Message.Body.Text, Message.Body.Html);
    return {};
  });
  const name = 'CI" (key_1).\u2028\u202eIf you expected this\u2029\u0007 👩\u200d💻';
  const notice = adminKeyCreated({ id: 'key_2', name });
  const source = { keyId: 'key_1', address: '192.0.2.1', baseUrl: 'https://api.example.com', at: 0 };
  await emailSender(runtime)(noticeEmail({ id: 'prj_1', name, emails: ['b@example.com'] }, notice, source));
  const [subject, text, html] = sent.map(({ Data }) => Data ?? '');
  expect(subject).toBe('Admin key created (prj_1)');
  expect(text).toContain(
    'A request created the admin key "CI" (key_1). If you expected this  👩\u200d💻" (key_2). It used',
  );
  for (const part of [subject, text, html])
    for (const character of '\u0007\u2028\u2029\u202e') expect(part).not.toContain(character);
});

describe('an email to several recipients', () => {
  const message = { projectId: 'prj_1', to: ['a@example.com', 'b@example.com'], subject: 'S', text: 'T', html: 'H' };
  const rejection = Object.assign(new Error('Not verified'), { name: 'MessageRejected' });
  let inputs: { Destination?: { ToAddresses?: string[] } }[];
  let reported: unknown[];
  beforeEach(() => {
    inputs = [];
    reported = [];
  });
  const send = (failures: Record<string, Error> = {}, to = message.to) => {
    const runtime = runtimeWith(
      async ({ input }) => {
        inputs.push(input);
        const failure = failures[input.Destination.ToAddresses[0]];
        if (failure) throw failure;
        return {};
      },
      { log: { info() {}, warn() {}, error: (event, { project_id }) => reported.push([event, project_id]) } },
    );
    return emailSender(runtime)({ ...message, to });
  };

  it('is sent to each one alone, with the project as a tag', async () => {
    await send();
    expect(inputs.map(({ Destination }) => Destination?.ToAddresses)).toEqual([['a@example.com'], ['b@example.com']]);
    for (const input of inputs)
      expect(input).toMatchObject({ ConfigurationSetName: 'emails', Tags: [{ Name: 'project', Value: 'prj_1' }] });
  });

  it('is not sent without recipients', async () => {
    await send({}, []);
    expect(inputs).toEqual([]);
  });

  it('reaches the others when SES rejects one, which is reported', async () => {
    await send({ 'a@example.com': rejection });
    expect(inputs).toHaveLength(2);
    expect(reported).toEqual([['email.rejected', 'prj_1']]);
  });

  it('fails when SES rejects all, or when SES fails', async () => {
    await expect(send({ 'a@example.com': rejection, 'b@example.com': rejection })).rejects.toThrow(rejection);
    await expect(send({ 'a@example.com': new Error('Outage') })).rejects.toThrow('Outage');
  });
});
