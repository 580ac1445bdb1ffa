import { expect, it } from 'vitest';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import { LocalSes, type SentEmail } from '../../../infra/local/services/ses.ts';
import { readTemplate } from './gateway.ts';

it('keeps the latest 10,000 emails', async () => {
  const iam = new LocalIam(readTemplate());
  iam.isPermissive = true;
  const email = (subject: string): SentEmail => ({ to: '', from: '', subject, text: '', html: '', at: '' });
  const kept = new Map(Array.from({ length: 10_000 }, (_, i) => [`${i}`, email(`${i}`)]));
  const ses = new LocalSes(() => 0, iam, kept);
  const form = { Action: 'SendEmail', Source: 'a@example.com', 'Destination.ToAddresses.member.1': 'b@example.com' };
  const body = new URLSearchParams({ ...form, 'Message.Subject.Data': 'last' }).toString();
  await ses.service({ method: 'POST', path: '/', action: '', headers: {}, body, principal: 'role' });
  expect([ses.emails.length, ses.emails[0]?.subject, ses.emails.at(-1)?.subject]).toEqual([10_000, '1', 'last']);
});
