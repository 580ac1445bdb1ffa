import type { StoredEvent } from '../events/events.ts';
import { iso } from '../schema.ts';
import type { WebhookRecord } from '../webhooks/webhooks.ts';
import { FAILURES, type Failure } from './failures.ts';
import type { Attempt } from './record.ts';

export interface DisabledWebhook {
  project: { name: string; email: string };
  webhook: WebhookRecord;
  event: StoredEvent;
  /** Of the delivery that disabled it, in order. */
  attempts: readonly Attempt[];
  dashboardUrl: string;
}

/** The mail about a webhook that was disabled: which, by what, since when, and what to do. */
export function disabledNotification({ project, webhook, event, attempts, dashboardUrl }: DisabledWebhook) {
  const [first] = attempts;
  const last = attempts.at(-1);
  const facts: [string, string][] = [
    ['Project', project.name],
    ['Environment', webhook.environment],
    ['Webhook', webhook.id],
    ['URL', webhook.url],
    ['Event', event.id],
    ['Event type', event.type],
    ['Attempts', String(attempts.length)],
    ['Failing since', first ? iso(first.at) : 'unknown'],
    ['Last attempt', last ? iso(last.at) : 'unknown'],
    ['Last answer', last ? describe(last) : 'none'],
  ];
  const excerpt = last?.excerpt ?? '';
  const link = `${dashboardUrl}#/${webhook.environment}/webhooks/${webhook.id}`;
  const steps = [
    'Repair the receiver: it has to answer 2xx within 5 seconds.',
    `Enable the webhook, in the dashboard or with PATCH /v1/webhooks/${webhook.id} {"status":"enabled"}.`,
    `Recover what it missed, there too or with POST /v1/webhooks/${webhook.id}/recover {"since":"${iso(first?.at ?? event.at)}"}; deliveries are kept for 30 days.`,
  ];
  const intro =
    'A delivery failed 6 times, so its webhook was disabled. No more events are sent to it until you enable it.';
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  return {
    to: project.email,
    subject: `Webhook disabled: ${new URL(webhook.url).host} (${event.type})`,
    text: [
      intro,
      facts.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`).join('\n'),
      ...(excerpt ? [`What it answered:\n${excerpt}`] : []),
      `What to do:\n${steps.map((step, i) => `${i + 1}. ${step}`).join('\n')}`,
      `The webhook in the dashboard:\n${link}`, // nothing beside it that a mail program could take for a part of it
    ].join('\n\n'),
    html: `<!doctype html><html lang="en"><body style="font-family:sans-serif">
<p>${escapeHtml(intro)}</p>
<table>${facts.map(([name, value]) => `<tr><th align="left">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`).join('')}</table>
${excerpt ? `<p>What it answered:</p><pre>${escapeHtml(excerpt)}</pre>` : ''}
<p>What to do:</p><ol>${steps.map((step) => `<li>${escapeHtml(step)}</li>`).join('')}</ol>
<p><a href="${escapeHtml(link)}">Open the webhook in the dashboard</a></p>
</body></html>`,
  };
}

function describe({ statusCode, error, durationMs }: Attempt): string {
  const answer = statusCode === null ? '' : `HTTP ${statusCode}; `;
  const reason = error ? `${FAILURES[error as Failure] ?? error} (${error})` : 'no error';
  return `${answer}${reason}, after ${durationMs} ms`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
