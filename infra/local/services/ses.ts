import { randomUUID } from 'node:crypto';
import { requireEmail } from '../models/ses.ts';
import { ACCOUNT, REGION } from '../template.ts';
import { type AcceptedEmail, type EmailEventType, simulatedEvent } from './email-events.ts';
import { type Service, ServiceError } from './endpoints.ts';
import type { LocalIam } from './iam.ts';

/** The input of `SendEmail`. */
interface SendEmail {
  Source: string;
  Destination: { ToAddresses?: string[] };
  Message: { Subject: Content; Body: { Text?: Content; Html?: Content } };
  ConfigurationSetName?: string;
  Tags?: { Name: string; Value: string }[];
}
interface Content {
  Data: string;
}

export interface SentEmail {
  to: string;
  from: string;
  subject: string;
  text: string;
  html: string;
  at: string;
}

/** The maximum number of stored emails. The oldest ones are deleted. */
const MAX_EMAILS = 10_000;

/** Publishes events of emails, such as a bounce. */
type Publish = (type: EmailEventType, email: AcceptedEmail, at: Date) => void;

/**
 * The Query protocol of SES for SendEmail with one recipient. Stores emails and sends none. Emails to `bounce@` and `complaint@` of
 * any domain cause the event (SES has such addresses in its mailbox simulator).
 */
export class LocalSes {
  /** Receives the events of emails. */
  publish: Publish = () => {};
  private readonly now: () => number;
  private readonly iam: LocalIam;
  private readonly kept: Map<string, SentEmail>;

  /** `kept` contains the emails by id. */
  constructor(now: () => number, iam: LocalIam, kept: Map<string, SentEmail>) {
    this.now = now;
    this.iam = iam;
    this.kept = kept;
  }

  get emails(): SentEmail[] {
    return [...this.kept.values()];
  }

  readonly service: Service = ({ input, body, principal }) => {
    const { Source, Destination, Message, ConfigurationSetName = '', Tags = [] } = input as unknown as SendEmail;
    const [to = '', ...others] = Destination.ToAddresses ?? [];
    if (others.length > 0) throw new ServiceError('InvalidParameterValue', 'The local SES supports one recipient');
    // All resources that SES can authorize, including those of the sandbox.
    for (const resource of [`identity/${Source}`, `identity/${to}`, `configuration-set/${ConfigurationSetName}`]) {
      const arn = `arn:aws:ses:${REGION}:${ACCOUNT}:${resource}`;
      this.iam.require(principal, 'ses:SendEmail', arn, { 'ses:FromAddress': Source });
    }
    const subject = Message.Subject.Data;
    requireEmail({ source: Source, recipient: to, subject, bytes: body.length });
    const messageId = randomUUID();
    this.kept.set(messageId, {
      to,
      from: Source,
      subject,
      text: Message.Body.Text?.Data ?? '',
      html: Message.Body.Html?.Data ?? '',
      at: new Date(this.now()).toISOString(),
    });
    const [oldest = ''] = this.kept.keys();
    if (this.kept.size > MAX_EMAILS) this.kept.delete(oldest);
    const tags = Object.fromEntries(Tags.map(({ Name, Value }) => [Name, Value]));
    this.report({ recipient: to, source: Source, messageId, configurationSet: ConfigurationSetName, tags });
    const result = `<SendEmailResult><MessageId>${messageId}</MessageId></SendEmailResult>`;
    const namespace = 'http://ses.amazonaws.com/doc/2010-12-01/';
    return {
      headers: { 'Content-Type': 'text/xml' },
      body: `<SendEmailResponse xmlns="${namespace}">${result}</SendEmailResponse>`,
    };
  };

  private report(email: AcceptedEmail): void {
    const type = simulatedEvent(email.recipient);
    if (type) this.publish(type, email, new Date(this.now()));
  }
}
