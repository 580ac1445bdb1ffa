import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';
import type { Email } from '../email.ts';
import { createClient } from './client.ts';

export function email(sender: string, client = createClient(SESClient)) {
  const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });
  return {
    async send({ to, subject, text, html }: Email): Promise<void> {
      const Message = { Subject: utf8(subject), Body: { Text: utf8(text), Html: utf8(html) } };
      await client.send(new SendEmailCommand({ Source: sender, Destination: { ToAddresses: [...to] }, Message }));
    },
  };
}
