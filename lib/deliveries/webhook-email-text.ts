import type { Email } from '../aws/email.ts';
import { type EmailContext, emailOf, emailTime, escapeHtml, type Part } from '../emails/compose.ts';
import type { Line } from '../emails/email-budget.ts';
import { inert, inertSubject, inertUrl } from '../emails/inert.ts';
import type { StoredEvent } from '../events/event.ts';
import { charactersOf } from '../schema.ts';
import type { WebhookState } from '../webhooks/email-state.ts';
import type { WebhookRecord } from '../webhooks/webhook.ts';
import type { Attempt } from './attempt.ts';
import { failureText } from './failure-causes.ts';
import { MAX_ATTEMPTS, RETRY_DELAYS_SECONDS } from './retry-schedule.ts';

/** A delivery whose last attempt failed, with the attempts of its run. */
export interface Failing {
  webhook: WebhookRecord;
  event: StoredEvent;
  attempts: readonly Attempt[];
  /** How many events the endpoint has not received, including this one. Up to a minute old. */
  unreceived: number;
}

interface Content {
  subject: string;
  intro: string;
  steps: readonly string[];
}

const FIX = 'Fix your endpoint. It must respond with a 2xx status code within 5 seconds.';

/** The warning that a webhook will be disabled unless its endpoint is fixed, with the time. */
function warningOf({ event, attempts }: Failing): Content {
  const last = attempts.at(-1);
  const attemptsMade = last?.number ?? 0;
  const left = RETRY_DELAYS_SECONDS.slice(attemptsMade - 1).reduce((sum, seconds) => sum + seconds, 0);
  const disabledAt = (last ? last.at + last.durationMs : event.at) + left * 1000;
  return {
    subject: 'Webhook failing',
    intro: `${attemptsMade} of ${MAX_ATTEMPTS} attempts of a delivery to this webhook failed. Unless a retry succeeds, we disable the webhook on ${emailTime(disabledAt)}.`,
    steps: [FIX, 'We retry failed deliveries until then. No other action is needed.'],
  };
}

const CONTENTS: Record<WebhookState, (failing: Failing) => Content> = {
  failing: warningOf,
  disabled: () => ({
    subject: 'Webhook disabled',
    intro:
      'We disabled this webhook because all 6 attempts of a delivery failed. It will not receive events until you enable it.',
    steps: [FIX, `Enable the webhook and recover what it missed. Deliveries are kept for 30 days.`],
  }),
  overloaded: ({ webhook: { maxPerSecond } }) => ({
    subject: 'Webhook overloaded',
    intro: `Events for this webhook arrive faster than its limit of ${maxPerSecond} attempts per second (max_per_second). We skip deliveries that would wait for more than an hour.`,
    steps: [
      'Raise or remove the limit if your endpoint can take more requests. Otherwise, subscribe the webhook to fewer events.',
      'Recover the skipped deliveries. Deliveries are kept for 30 days.',
    ],
  }),
};

/** The email about a webhook in a state, with a delivery that shows the failure, and the next steps. */
export function notificationOf(
  context: EmailContext,
  to: readonly string[],
  what: WebhookState,
  failing: Failing,
): Email {
  const { subject, intro, steps } = CONTENTS[what](failing);
  const { webhook, event, attempts } = failing;
  const excerpt = inert(attempts.at(-1)?.excerpt ?? '');
  const page = pageOf(webhook);
  return emailOf({
    ...context,
    to,
    subject: `${subject}: ${inertSubject(webhook.description ?? '') || webhook.id}`,
    paragraphs: [
      intro,
      table(factsOf(context, failing)),
      ...(excerpt ? [responseBody(excerpt)] : []),
      nextSteps(steps),
    ],
    links: [
      ['Open the webhook in the dashboard', page],
      ['Open the delivery', `${page}/deliveries/${event.id}`],
    ],
  });
}

const pageOf = ({ id, environment }: WebhookRecord): string => `/${environment}/webhooks/${id}`;

type Fact = readonly [name: string, value: string];

function table(facts: readonly Fact[]): Part {
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  return {
    text: facts.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`).join('\n'),
    html: `<table style="border-spacing:0 4px;font-size:14px">${facts.map(row).join('')}</table>`,
  };
}

const row = ([name, value]: Fact): string =>
  `<tr><th align="left" valign="top" style="padding-right:16px;white-space:nowrap">${escapeHtml(name)}</th><td style="overflow-wrap:anywhere">${escapeHtml(value)}</td></tr>`;

const responseBody = (excerpt: string): Part => ({
  text: `Response body (first 1 KiB):\n${quote(excerpt)}`,
  html: `<p>Response body (first 1 KiB):</p><pre style="background:#f3f4f6;color:#111;overflow-wrap:anywhere;padding:12px;white-space:pre-wrap">${escapeHtml(excerpt)}</pre>`,
});

const nextSteps = (steps: readonly string[]): Part => ({
  text: `Next steps:\n${steps.map((step, i) => `${i + 1}. ${step}`).join('\n')}`,
  html: `<p>Next steps:</p><ol>${steps.map((step) => `<li>${escapeHtml(step)}</li>`).join('')}</ol>`,
});

/** Marks each line of the response, so that it does not look like a part of the email. */
const quote = (text: string): string => text.replace(/^/gm, '> ');

/** The maximum length of a description and of a host in a line, because a project stores a line for each of its webhooks. */
const MAX_NAME = 60;

/** The line of a summary about a webhook. Its link contains the id. */
export function summaryLine({ webhook, attempts, unreceived }: Failing, what: WebhookState): Line {
  const { id, environment, url, description } = webhook;
  const name =
    inert(
      charactersOf(description ?? '')
        .slice(0, MAX_NAME)
        .join(''),
    ) || id;
  const last = attempts.at(-1);
  const since = last ? `, last attempt on ${emailTime(last.at)}` : '';
  const host = inert(new URL(url).host.slice(0, MAX_NAME));
  return {
    text: `Webhook ${what}: ${name} (${environment}, ${host}), ${eventsOf(unreceived)} not received${since}`,
    place: pageOf(webhook),
  };
}

const eventsOf = (count: number): string => (count === 1 ? '1 event' : `${count} events`);

function factsOf({ project }: EmailContext, { webhook, event, attempts, unreceived }: Failing): Fact[] {
  const [first] = attempts;
  const last = attempts.at(-1);
  return [
    ...(webhook.description ? [['Description', inert(webhook.description)] as const] : []),
    ['Endpoint URL', inertUrl(webhook.url)],
    ['Webhook', webhook.id],
    ['Project', inert(project.name)],
    ['Environment', webhook.environment],
    ['Not received', eventsOf(unreceived)],
    ['Event', event.id],
    ['Event type', event.type],
    ...(first && last ? factsOfAttempts(attempts.length, webhook.failingSince ?? first.at, last) : []),
  ];
}

const factsOfAttempts = (count: number, failingSince: number, last: Attempt): Fact[] => [
  ['Attempts', String(count)],
  ['Failing since', emailTime(failingSince)],
  ['Last attempt', emailTime(last.at)],
  ['Last response', describe(last)],
];

function describe({ statusCode, error, reason, durationMs }: Attempt): string {
  const response = statusCode === null ? '' : `HTTP ${statusCode}; `;
  const names = reason ? `${error}, ${reason}` : error;
  const failure = error ? `${failureText(error, reason)} (${names})` : 'no error';
  return `${response}${failure}, after ${durationMs} ms`;
}
