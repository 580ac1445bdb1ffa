import type { Context, SQSEvent } from 'aws-lambda';
import { connect } from '../lib/aws/backend.ts';
import { lambda, newVariable, type Runtime } from '../lib/aws/runtime.ts';
import { emailEventsConsumer, summaryConsumer } from '../lib/projects/consumers.ts';
import { stopEmails } from '../lib/projects/undeliverable.ts';
import { emailing } from './wiring.ts';

/** Receives events of SES, and messages of the queue of summaries. */
export const create = (runtime: Runtime) => {
  const backend = connect(runtime);
  const dashboardUrl = newVariable(runtime, 'DASHBOARD_URL') ?? '';
  const deps = { ...backend, ...emailing(runtime, backend) };
  const handleEvent = emailEventsConsumer(
    { stop: (...report) => stopEmails(...report, { ...deps, dashboardUrl }) },
    backend,
  );
  const handleSummaries = summaryConsumer((message) => deps.emails.summarize(message, dashboardUrl), backend);
  return (event: SQSEvent | object, context: Context) =>
    'Records' in event ? handleSummaries(event, context) : handleEvent(event);
};
export const handler = create(lambda);
