import { EventType } from '@aws-lambda-powertools/batch';
import type { SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { SummaryMessage } from './email-store.ts';
import type { UndeliverableEmail } from './mailboxes.ts';

const recipients = v.array(v.object({ emailAddress: v.string() }));

/** The members that are read of an event of SES (SES Developer Guide, "Contents of event data that Amazon SES publishes"). */
const EmailEvent = v.object({
  detail: v.object({
    mail: v.object({ tags: v.object({ project: v.tuple([v.string()]) }) }),
    bounce: v.optional(v.object({ bounceType: v.string(), bouncedRecipients: recipients })),
    complaint: v.optional(v.object({ complainedRecipients: recipients })),
  }),
});

export interface EmailEventsDeps {
  stop(projectId: string, address: string, reason: UndeliverableEmail['reason']): Promise<void>;
}

/**
 * Stops emails to addresses that SES reports. Temporary bounces count for nothing, because SES tries again. A failed invocation is
 * repeated twice, and a lost event has no consequences, because the next email to the address causes the same event.
 */
export const emailEventsConsumer =
  ({ stop }: EmailEventsDeps, { log, reportFailure }: Backend) =>
  async (event: unknown): Promise<void> => {
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
  };

/** Consumes messages about summaries of emails. The queue delays each one until a summary can be due. */
export const summaryConsumer = (
  summarize: (message: SummaryMessage) => Promise<void>,
  { reportFailure }: Pick<Backend, 'reportFailure'>,
) =>
  consume<SQSRecord>(EventType.SQS, {
    reportFailure,
    handle: ({ body }) => summarize(v.parse(SummaryMessage, JSON.parse(body))),
    describe: ({ messageId }) => ['summary.failed', { message_id: messageId }],
  });
