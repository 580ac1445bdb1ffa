import { recipientsOf } from '../projects/recipients.ts';
import type { WebhookState } from '../webhooks/webhook-emails.ts';
import type { Claim } from './endpoint-store.ts';
import { type Failing, notificationOf, summaryLine } from './notification.ts';
import type { RunId } from './record.ts';
import type { Notifying } from './stages.ts';

/**
 * Sends an email that two copies of a message must not both send: claim it → send it → mark it as sent. After a failure, the claim
 * is released, and the next run sends the email. After a crash, the claim runs out first. If the crash was after the email, the
 * customer receives it twice. After `busy` the message must be received again, because the run that holds the claim may fail.
 */
export async function sendOnce(what: WebhookState, run: RunId, failing: Failing, use: Notifying): Promise<Claim> {
  const { endpoints, clock } = use;
  const { webhook } = failing;
  const claimed = await endpoints.claimEmail(what, webhook, run, clock());
  if (claimed !== 'claimed') return claimed;
  try {
    await send(what, failing, use);
  } catch (error) {
    await endpoints.releaseEmail(what, webhook, run).catch(() => {}); // then the claim runs out
    throw error;
  }
  await endpoints.markEmailed(what, webhook, run, clock());
  return claimed;
}

/** Sends the email about a webhook, or leaves it to a summary. */
async function send(what: WebhookState, failing: Failing, { emails, clock }: Notifying): Promise<void> {
  const project = await emails.projects.get(failing.webhook.projectId);
  if (!project) return;
  const end = await emails.reserve(project, summaryLine(failing, what), clock());
  try {
    await end(
      notificationOf({ project, dashboardUrl: emails.dashboardUrl }, recipientsOf(project, clock()), what, failing),
    );
  } catch (error) {
    // The message is received again and sends this email, so no summary must contain it. A skipped delivery is not repeated.
    if (what !== 'overloaded') await end(null).catch(() => {});
    throw error;
  }
}
