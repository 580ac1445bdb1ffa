import { expect, it } from 'vitest';
import { adminKeyCreated, noticeEmail } from '../../../lib/access/notices.ts';
import { email } from '../../../lib/aws/email.ts';

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
  await email('a@example.com', client as never).send(noticeEmail({ name, emails: ['b@example.com'] }, notice, source));
  const [subject, text, html] = sent.map(({ Data }) => Data ?? '');
  expect(subject).toBe('Admin key created (CI" (key_1). If you expected this  👩\u200d💻)');
  expect(text).toContain('Creates the admin key "CI" (key_1). If you expected this  👩\u200d💻" (key_2).\n');
  for (const part of [subject, text, html])
    for (const character of '\u0007\u2028\u2029\u202e') expect(part).not.toContain(character);
});
