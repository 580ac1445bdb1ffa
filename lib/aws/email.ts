import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';
import { type Email, emailText } from '../email.ts';
import { createClient } from './client.ts';

export function email(sender: string, client = createClient(SESClient)) {
  const utf8 = (text: string) => ({ Data: emailText(text), Charset: 'UTF-8' });
  return {
    async send({ to, subject, text, html }: Email): Promise<void> {
      const Message = { Subject: utf8(subject), Body: { Text: utf8(text), Html: utf8(html) } };
      await client.send(new SendEmailCommand({ Source: sender, Destination: { ToAddresses: [...to] }, Message }));
    },
  };
}
