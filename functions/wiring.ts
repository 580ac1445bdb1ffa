import type { Backend } from '../lib/aws/backend.ts';
import { emailSender } from '../lib/aws/email.ts';
import { queue } from '../lib/aws/queue.ts';
import type { Runtime } from '../lib/aws/runtime.ts';
import type { ConnectionsDeps } from '../lib/documents/lost-connections.ts';
import { emailBudgets } from '../lib/projects/email-budget-store.ts';
import { projectEmails, type SummaryMessage } from '../lib/projects/email-store.ts';
import { projects } from '../lib/projects/store.ts';

/** Sends emails, and schedules their summaries. The previous release does not set the variable of that queue. */
export function emailing(runtime: Runtime, backend: Backend) {
  let summaryQueue: ReturnType<typeof queue> | undefined;
  const sendEmail = emailSender(runtime);
  const budgets = emailBudgets(backend.table);
  const recipients = projects(backend.table);
  const emails = projectEmails({
    ...backend,
    sendEmail,
    budgets,
    projects: recipients,
    scheduleSummary(body: SummaryMessage, delaySeconds) {
      summaryQueue ??= queue(runtime, 'SUMMARIES_QUEUE_URL');
      return summaryQueue.send({ body, delaySeconds });
    },
  });
  return { sendEmail, budgets, emails, projects: recipients };
}

/** Schedules checks of connections. */
export function checks(runtime: Runtime): Pick<ConnectionsDeps, 'scheduleCheck'> {
  const { send } = queue(runtime, 'CHECKS_QUEUE_URL');
  return { scheduleCheck: (body, delaySeconds) => send({ body, delaySeconds }) };
}
