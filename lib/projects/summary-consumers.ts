import { EventType } from '@aws-lambda-powertools/batch';
import type { SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { consume } from '../aws/batches.ts';
import { SummaryMessage } from './project-emails.ts';

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
