import { beforeEach, describe, expect, it } from 'vitest';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import { LocalSes } from '../../../infra/local/services/ses.ts';
import { readTemplate } from './gateway.ts';

let ses: LocalSes;
beforeEach(() => {
  const iam = new LocalIam(readTemplate());
  iam.isPermissive = true;
  ses = new LocalSes(() => 0, iam, new Map(), ['events']);
});

const send = async (to: string, ConfigurationSetName = 'events'): Promise<unknown> => {
  const members = {
    Action: 'SendEmail',
    Source: 'us@example.com',
    'Destination.ToAddresses.member.1': to,
    'Message.Subject.Data': 'Hello',
    ConfigurationSetName,
  };
  const body = new URLSearchParams(members).toString();
  return ses.service({ method: 'POST', action: 'SendEmail', path: '/', headers: {}, principal: '', body });
};

const recipients = () => ses.emails.map(({ to }) => to);

describe('SES', () => {
  it('rejects an unverified recipient in the sandbox', async () => {
    ses.sandbox = new Set(['a@example.com']);
    await expect(send('b@example.com')).rejects.toMatchObject({ code: 'MessageRejected' });
    await send('a@example.com');
    expect(recipients()).toEqual(['a@example.com']);
  });

  it('accepts an email to a suppressed recipient, and does not send it', async () => {
    ses.suppressed.add('a@example.com');
    await send('a@example.com');
    expect(recipients()).toEqual([]);
  });

  it('rejects an unknown configuration set', async () => {
    await expect(send('a@example.com', 'other')).rejects.toMatchObject({ code: 'ConfigurationSetDoesNotExist' });
    expect(recipients()).toEqual([]);
  });
});
