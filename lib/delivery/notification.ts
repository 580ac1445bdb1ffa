import { type Email, escapeHtml } from '../email.ts';
import type { StoredEvent } from '../events/events.ts';
import { iso } from '../schema.ts';
import type { WebhookRecord } from '../webhooks/webhooks.ts';
import { FAILURES, type Failure } from './failures.ts';
import type { Attempt } from './record.ts';

export interface DisabledWebhook {
  project: { name: string; emails: readonly string[] };
  webhook: WebhookRecord;
  event: StoredEvent;
  /** The attempts of the delivery that disabled it, in order. */
  attempts: readonly Attempt[];
  dashboardUrl: string;
}

/** The email about a disabled webhook: which one, which delivery disabled it, since when it failed, and what to do. */
export function disabledNotification({ project, webhook, event, attempts, dashboardUrl }: DisabledWebhook): Email {
  const [first] = attempts;
  const last = attempts.at(-1);
  const facts: [string, string][] = [
    ['Project', project.name],
    ['Environment', webhook.environment],
    ['Webhook', webhook.id],
    ['Endpoint URL', webhook.url],
    ['Event', event.id],
    ['Event type', event.type],
    ['Attempts', String(attempts.length)],
    ['Failing since', first ? iso(first.at) : 'unknown'],
    ['Last attempt', last ? iso(last.at) : 'unknown'],
    ['Last response', last ? describe(last) : 'none'],
  ];
  const excerpt = last?.excerpt ?? '';
  const link = `${dashboardUrl}#/${webhook.environment}/webhooks/${webhook.id}`;
  const steps = [
    'Fix your endpoint. It must respond with a 2xx status code within 5 seconds.',
    `Enable the webhook in the dashboard, or with PATCH /v1/webhooks/${webhook.id} {"status":"enabled"}.`,
    `Recover missed deliveries in the dashboard, or with POST /v1/webhooks/${webhook.id}/recover {"since":"${iso(first?.at ?? event.at)}"}. Deliveries are kept for 30 days.`,
  ];
  const intro =
    'We disabled this webhook because all 6 attempts of a delivery failed. It will not receive events until you enable it.';
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  return {
    to: project.emails,
    subject: `Webhook disabled: ${new URL(webhook.url).host} (${event.type})`,
    text: [
      intro,
      facts.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`).join('\n'),
      ...(excerpt ? [`Response body (first 1 KiB):\n${excerpt}`] : []),
      `Next steps:\n${steps.map((step, i) => `${i + 1}. ${step}`).join('\n')}`,
      `Open the webhook in the dashboard:\n${link}`, // alone on its line, so that email clients link exactly this
    ].join('\n\n'),
    html: `<!doctype html><html lang="en"><body style="font-family:sans-serif">
<p>${escapeHtml(intro)}</p>
<table>${facts.map(([name, value]) => `<tr><th align="left">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`).join('')}</table>
${excerpt ? `<p>Response body (first 1 KiB):</p><pre>${escapeHtml(excerpt)}</pre>` : ''}
<p>Next steps:</p><ol>${steps.map((step) => `<li>${escapeHtml(step)}</li>`).join('')}</ol>
<p><a href="${escapeHtml(link)}">Open the webhook in the dashboard</a></p>
</body></html>`,
  };
}

function describe({ statusCode, error, durationMs }: Attempt): string {
  const response = statusCode === null ? '' : `HTTP ${statusCode}; `;
  const reason = error ? `${FAILURES[error as Failure] ?? error} (${error})` : 'no error';
  return `${response}${reason}, after ${durationMs} ms`;
}
