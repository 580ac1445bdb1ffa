import { recipientsOf } from '../projects/recipients.ts';
import type { WebhookState } from '../webhooks/email-state.ts';
import type { Found } from './decide.ts';
import type { Claim } from './endpoint-store.ts';
import type { Notifying } from './stages.ts';
import { type Failing, notificationOf, summaryLine } from './webhook-email-text.ts';

/**
 * Sends an email about a webhook that two copies of a message must not both send: claim it → send it → mark it as sent. After a
 * failure, the claim is released, and after a crash, it runs out. The next message that needs the email then sends it. After a
 * crash behind the email, the customer receives it twice. After `busy`, the message must be received again, because the function
 * with the claim may fail.
 */
export async function emailOnce(what: WebhookState, found: Found, use: Notifying): Promise<Claim> {
  const { endpoints, clock } = use;
  const { message, webhook } = found;
  const claimed = await endpoints.claimEmail(what, webhook, message, clock());
  if (claimed !== 'claimed') return claimed;
  try {
    await send(what, await failingOf(what, found, use), use);
  } catch (error) {
    await endpoints.releaseEmail(what, webhook, message).catch(() => {}); // then the claim runs out
    throw error;
  }
  await endpoints.markEmailed(what, webhook, message, clock());
  return claimed;
}

/** The email about an overload shows no attempts, and the others show those of the run. */
async function failingOf(
  what: WebhookState,
  { message, webhook, event, attempts }: Found,
  { backlogOf }: Notifying,
): Promise<Failing> {
  const { undelivered, retrying } = await backlogOf(webhook.id);
  const attemptsOfRun = what === 'overloaded' ? [] : attempts.slice(-message.attempt);
  return { webhook, event, attempts: attemptsOfRun, unreceived: Math.max(1, undelivered + retrying) };
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
