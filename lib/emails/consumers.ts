import { EventType } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { optimistically } from '../concurrency.ts';
import { isSameMailbox, type MailboxMark, markOf, recipientsOf, withMark } from '../projects/recipients.ts';
import { emailOf } from './compose.ts';
import { inert } from './inert.ts';
import { projectEmails, SummaryMessage } from './send.ts';

const recipients = v.array(v.object({ emailAddress: v.string() }));

/** The members that are read of an event of SES (SES Developer Guide, "Contents of event data that Amazon SES publishes"). */
const EmailEvent = v.object({
  detail: v.object({
    mail: v.object({ tags: v.object({ project: v.tuple([v.string()]) }) }),
    bounce: v.optional(v.object({ bounceType: v.string(), bouncedRecipients: recipients })),
    complaint: v.optional(v.object({ complainedRecipients: recipients })),
  }),
});

const REASONS: Record<MailboxMark['reason'], string> = {
  bounced: 'Its mail server rejected an email permanently.',
  complained: 'Its mail provider reported that the recipient marked an email as spam.',
};

/** The page of the dashboard with the addresses of a project. */
const SETTINGS = '/live/settings';

/** Consumes events of SES, and messages of the queue of summaries. The queue delays each one until a summary can be due. */
export function emailConsumer(backend: Backend) {
  const { clock, log, reportFailure } = backend;
  const emails = projectEmails(backend);
  const { projects } = emails;
  const summarize = consume<SQSRecord>(EventType.SQS, {
    reportFailure,
    handle: ({ body }) => emails.summarize(v.parse(SummaryMessage, JSON.parse(body))),
    describe: ({ messageId }) => ['summary.failed', { message_id: messageId }],
  });
  return (event: SQSEvent | object, context: Context) =>
    'Records' in event ? summarize(event, context) : handleEvent(event);

  /**
   * Stops emails to addresses that SES reports. Temporary bounces count for nothing, because SES tries again. A failed invocation
   * is repeated twice, and a lost event has no consequences, because the next email to the address causes the same event.
   */
  async function handleEvent(event: unknown): Promise<void> {
    try {
      const { mail, bounce, complaint } = v.parse(EmailEvent, event).detail;
      const [projectId] = mail.tags.project;
      const bounced = bounce?.bounceType === 'Permanent' ? bounce.bouncedRecipients : [];
      const complained = complaint?.complainedRecipients ?? [];
      for (const { emailAddress } of bounced) await stop(projectId, emailAddress, 'bounced');
      for (const { emailAddress } of complained) await stop(projectId, emailAddress, 'complained');
      log.info('email_event.handled', {
        project_id: projectId,
        bounced: bounced.length,
        complained: complained.length,
      });
    } catch (error) {
      reportFailure('email_event.failed', {}, error);
      throw error;
    }
  }

  /**
   * Stops emails to an address of a project, and notifies the other addresses. An address that the project has removed is marked
   * too, because it can be added again.
   */
  async function stop(projectId: string, reported: string, reason: MailboxMark['reason']): Promise<void> {
    const project = await projects.get(projectId);
    const now = clock();
    const mark = { reason, at: now };
    const mailboxes = project && withMark(project, reported, mark);
    if (!mailboxes || markOf(project, reported, now)) return;
    const address = project.emails.find((each) => isSameMailbox(each, reported));
    if (address === undefined) return void (await add(projectId, reported, mark));
    const what = `The project sends no more emails to ${inert(address)}. ${REASONS[reason]}`;
    const email = emailOf({
      project,
      dashboardUrl: emails.dashboardUrl,
      to: recipientsOf({ ...project, mailboxes }, now),
      subject: 'Emails do not arrive',
      paragraphs: [
        what,
        'When the address works again, confirm it in the settings of the dashboard. Otherwise replace it.',
      ],
      links: [['Open the settings', SETTINGS]],
    });
    const send = await emails.reserve(project, { text: what, place: SETTINGS }, now);
    const isFirst = await add(projectId, address, mark);
    await send(isFirst ? email : null);
  }

  /** `false` if the address already has a mark. */
  function add(projectId: string, address: string, mark: MailboxMark): Promise<boolean> {
    return optimistically(async () => {
      const read = await projects.get(projectId);
      const mailboxes = read && withMark(read, address, mark);
      if (!mailboxes || markOf(read, address, mark.at)) return false;
      return (await projects.changeAsRead(read, { mailboxes }, [])) || undefined;
    });
  }
}
