import { SESClient, SendEmailCommand } from '@aws-sdk/client-ses';
import { allDone } from '../concurrency.ts';
import { emailText } from '../printable.ts';
import { domainError } from './domain-errors.ts';
import { failureReporter } from './log.ts';
import { clientOnDemand, newVariable, type Runtime, variable } from './runtime.ts';

/** An email to each of its recipients. */
export interface Email {
  projectId: string;
  /** Can be empty. */
  to: readonly string[];
  /** Contains ids, and the description of a webhook in inert characters, but no other text of customers. */
  subject: string;
  text: string;
  html: string;
}

/**
 * Sends each recipient a separate email, so that a rejected address does not affect the others, and a complaint names one
 * recipient (SES lists every recipient of the domain as a possible one). A rejection is reported. It is thrown if no address was
 * accepted. After an outage, all emails are sent again.
 */
export function emailSender(runtime: Pick<Runtime, 'variables' | 'client' | 'log'>) {
  const client = clientOnDemand(runtime, SESClient);
  const sender = variable(runtime, 'SENDER_EMAIL');
  const configurationSet = newVariable(runtime, 'CONFIGURATION_SET'); // publishes bounces and complaints
  const reportFailure = failureReporter(runtime.log);
  const utf8 = (text: string) => ({ Data: emailText(text), Charset: 'UTF-8' });
  return async ({ projectId, to, subject, text, html }: Email): Promise<void> => {
    const rejections: unknown[] = [];
    const sendTo = async (recipient: string) => {
      await client()
        .send(
          new SendEmailCommand({
            Source: sender,
            Destination: { ToAddresses: [recipient] },
            Message: { Subject: utf8(subject), Body: { Text: utf8(text), Html: utf8(html) } },
            ConfigurationSetName: configurationSet,
            Tags: [{ Name: PROJECT_TAG, Value: projectId }],
          }),
        )
        .catch((error: unknown) => {
          if (!isRejection(error)) throw domainError(error);
          rejections.push(error);
        });
    };
    await allDone(to.map(sendTo));
    if (rejections.length > 0 && rejections.length === to.length) throw rejections[0];
    for (const error of rejections) reportFailure('email.rejected', { project_id: projectId }, error);
  };
}

/** The tag of an email that names its project. `emails/consumers.ts` reads it. */
const PROJECT_TAG = 'project';

// SES returns the second one for an address that it cannot parse.
const REJECTIONS = new Set(['MessageRejected', 'InvalidParameterValue']);

/** Whether SES rejects this email, and would reject it again. */
export const isRejection = (error: unknown): boolean => REJECTIONS.has((error as Error).name);
