import type { Context, SQSEvent } from 'aws-lambda';
import { connect } from '../lib/aws/backend.ts';
import { lambda, type Runtime } from '../lib/aws/runtime.ts';
import { emailEventsConsumer, summaryConsumer } from '../lib/projects/consumers.ts';
import { projectEmails } from '../lib/projects/email-store.ts';

/** Receives events of SES, and messages of the queue of summaries. */
export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const emails = projectEmails(backend);
  const handleEvent = emailEventsConsumer(backend, emails);
  const handleSummaries = summaryConsumer(backend, emails);
  return (event: SQSEvent | object, context: Context) =>
    'Records' in event ? handleSummaries(event, context) : handleEvent(event);
};
export const handler = create(lambda);
