import type { Email } from '../projects/emails.ts';
import { recipientsOf } from '../projects/mailboxes.ts';
import type { ProjectRecord } from '../projects/project.ts';
import type { ProjectEmails } from '../projects/project-emails.ts';
import {
  disabledNotification,
  type FailingWebhook,
  overloadNotification,
  summaryLine,
  type WebhookState,
  warningNotification,
} from './notification.ts';
import type { OutageEmail } from './outage.ts';

interface WebhookEmailsDeps {
  projects: { get(id: string): Promise<ProjectRecord | undefined> };
  emails: Pick<ProjectEmails, 'reserve' | 'send'>;
  dashboardUrl: string;
  clock(): number;
}

const NOTIFICATIONS: Record<WebhookState, (failing: FailingWebhook) => Email> = {
  failing: warningNotification,
  disabled: disabledNotification,
  overloaded: overloadNotification,
};

/** Sends the email about a webhook, or leaves it to a summary. */
export const webhookEmails =
  ({ projects, emails, dashboardUrl, clock }: WebhookEmailsDeps) =>
  (what: WebhookState): OutageEmail['send'] =>
  async (failing) => {
    const project = await projects.get(failing.webhook.projectId);
    if (!project) return;
    const id = await emails.reserve(project, summaryLine(failing, what), clock());
    if (id === null) return;
    const { to } = recipientsOf(project, clock());
    await emails.send(id, NOTIFICATIONS[what]({ ...failing, project, to, dashboardUrl }));
  };
