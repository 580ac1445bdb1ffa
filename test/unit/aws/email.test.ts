import { beforeEach, describe, expect, it, vi } from 'vitest';
import { email } from '../../../lib/aws/email.ts';
import { log } from '../../../lib/aws/log.ts';
import { adminKeyCreated, noticeEmail } from '../../../lib/projects/notices.ts';

const options = { sender: 'a@example.com', configurationSet: 'set' };

it('sends no characters that change the direction of a notice or add lines to it', async () => {
  const sent: { Data?: string }[] = [];
  const client = {
    async send({
      input: { Message },
    }: {
      input: { Message?: { Subject?: object; Body?: { Text?: object; Html?: object } } };
    }) {
      sent.push({ ...Message?.Subject }, { ...Message?.Body?.Text }, { ...Message?.Body?.Html });
    },
  };
  const name = 'CI" (key_1).\u2028\u202eIf you expected this\u2029\u0007 👩\u200d💻';
  const notice = adminKeyCreated({ id: 'key_2', name });
  const source = { keyId: 'key_1', address: '192.0.2.1', at: 0 };
  await email(options, client as never).send(
    noticeEmail({ id: 'prj_1', name, emails: ['b@example.com'] }, notice, source),
  );
  const [subject, text, html] = sent.map(({ Data }) => Data ?? '');
  expect(subject).toBe('Admin key created (CI" (key_1). If you expected this  👩\u200d💻)');
  expect(text).toContain('Creates the admin key "CI" (key_1). If you expected this  👩\u200d💻" (key_2).\n');
  for (const part of [subject, text, html])
    for (const character of '\u0007\u2028\u2029\u202e') expect(part).not.toContain(character);
});

describe('an email to several recipients', () => {
  const message = { projectId: 'prj_1', to: ['a@example.com', 'b@example.com'], subject: 'S', text: 'T', html: 'H' };
  const rejection = Object.assign(new Error('Not verified'), { name: 'MessageRejected' });
  let inputs: { Destination?: { ToAddresses?: string[] } }[];
  beforeEach(() => {
    inputs = [];
  });
  const send = (failures: Record<string, Error> = {}, to = message.to) => {
    const client = {
      async send({ input }: { input: (typeof inputs)[number] }) {
        inputs.push(input);
        const failure = failures[input.Destination?.ToAddresses?.[0] ?? ''];
        if (failure) throw failure;
      },
    };
    return email(options, client as never).send({ ...message, to });
  };

  it('is sent to each one alone, with the project as a tag', async () => {
    await send();
    expect(inputs.map(({ Destination }) => Destination?.ToAddresses)).toEqual([['a@example.com'], ['b@example.com']]);
    for (const input of inputs)
      expect(input).toMatchObject({ ConfigurationSetName: 'set', Tags: [{ Name: 'project', Value: 'prj_1' }] });
  });

  it('is not sent without recipients', async () => {
    await send({}, []);
    expect(inputs).toEqual([]);
  });

  it('reaches the others when SES rejects one, which is reported', async () => {
    const reported = vi.spyOn(log, 'error').mockImplementation(() => {});
    await send({ 'a@example.com': rejection });
    expect(inputs).toHaveLength(2);
    expect(reported.mock.calls).toMatchObject([['email.rejected', { project_id: 'prj_1' }]]);
    reported.mockRestore();
  });

  it('fails when SES rejects all, or when SES fails', async () => {
    await expect(send({ 'a@example.com': rejection, 'b@example.com': rejection })).rejects.toThrow(rejection);
    await expect(send({ 'a@example.com': new Error('Outage') })).rejects.toThrow('Outage');
  });
});
