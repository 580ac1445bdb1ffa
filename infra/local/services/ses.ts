import { randomUUID } from 'node:crypto';
import { requireEmail } from '../models/ses.ts';
import { ACCOUNT, REGION } from '../template.ts';
import { type AcceptedEmail, type EmailEventType, simulatedEvent } from './email-events.ts';
import { type Service, ServiceError } from './endpoints.ts';
import type { LocalIam } from './iam.ts';

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
  /** The numbers of bounces and complaints, which tests set. */
  readonly returned = { bounces: 0, complaints: 0 };
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

  readonly service: Service = ({ body, principal }) => {
    const form = new URLSearchParams(body);
    const of = (name: string) => form.get(name) ?? '';
    if (of('Action') !== 'SendEmail')
      throw new ServiceError('InvalidAction', `The local SES does not support ${of('Action')}`);
    const configurationSet = of('ConfigurationSetName');
    const [to = '', ...others] = [...form].flatMap(([name, value]) => (/^Destination\./.test(name) ? [value] : []));
    if (others.length > 0) throw new ServiceError('InvalidParameterValue', 'The local SES supports one recipient');
    // All resources that SES can authorize, including those of the sandbox.
    for (const resource of [`identity/${of('Source')}`, `identity/${to}`, `configuration-set/${configurationSet}`]) {
      const arn = `arn:aws:ses:${REGION}:${ACCOUNT}:${resource}`;
      this.iam.require(principal, 'ses:SendEmail', arn, { 'ses:FromAddress': of('Source') });
    }
    requireEmail({ source: of('Source'), recipient: to, subject: of('Message.Subject.Data'), bytes: body.length });
    const messageId = randomUUID();
    this.kept.set(messageId, {
      to,
      from: of('Source'),
      subject: of('Message.Subject.Data'),
      text: of('Message.Body.Text.Data'),
      html: of('Message.Body.Html.Data'),
      at: new Date(this.now()).toISOString(),
    });
    const [oldest = ''] = this.kept.keys();
    if (this.kept.size > MAX_EMAILS) this.kept.delete(oldest);
    this.report({ recipient: to, source: of('Source'), messageId, configurationSet, tags: tagsOf(form) });
    const result = `<SendEmailResult><MessageId>${messageId}</MessageId></SendEmailResult>`;
    const namespace = 'http://ses.amazonaws.com/doc/2010-12-01/';
    return {
      headers: { 'Content-Type': 'text/xml' },
      body: `<SendEmailResponse xmlns="${namespace}">${result}</SendEmailResponse>`,
    };
  };

  private report(email: AcceptedEmail): void {
    const type = simulatedEvent(email.recipient);
    if (!type) return;
    this.returned[type === 'Bounce' ? 'bounces' : 'complaints']++;
    this.publish(type, email, new Date(this.now()));
  }
}

/** The message tags of a request. */
function tagsOf(form: URLSearchParams): Record<string, string> {
  const names = [...form].filter(([key]) => /^Tags\.member\.\d+\.Name$/.test(key));
  return Object.fromEntries(names.map(([key, name]) => [name, form.get(key.replace(/Name$/, 'Value')) ?? '']));
}
