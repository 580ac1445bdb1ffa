import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { emailSender } from '../aws/email.ts';
import { is, isNew, put } from '../aws/expressions.ts';
import { itemKey, timeToLive } from '../aws/items.ts';
import { queue } from '../aws/queue.ts';
import type { Write } from '../aws/writes.ts';
import { optimistically } from '../concurrency.ts';
import { baseUrlOf } from '../http/base-url.ts';
import {
  confirmed,
  EMPTY_BUDGET,
  type EmailBudget,
  emailAllowedAt,
  nextCheckAt,
  reserved,
  summarized,
  type Told,
  withEmail,
} from './email-budget.ts';
import { dashboardOf, type Email, emailOf, emailTime, recipientsOf } from './emails.ts';
import type { ProjectRecord } from './project.ts';
import { projects as projectsIn } from './store.ts';

/** The time for which an unused budget is kept. During an outage, a summary waits longer than the window. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** The message that checks for a summary. */
export const SummaryMessage = v.strictObject({ projectId: v.string(), checkAt: v.number() });
export type SummaryMessage = v.InferOutput<typeof SummaryMessage>;

export type ProjectEmails = ReturnType<typeof projectEmails>;

/**
 * The emails of projects. All emails of a project share one budget. It is a separate item, because functions that cannot change
 * projects change it. An email is reserved before its cause, sent after it, and then confirmed. Emails beyond the budget are held
 * back for one summary. A delayed message checks for a summary. It is sent before the reservation is stored, so no crash can lose a
 * summary, and a crash between the reservation and the confirmation only repeats an email.
 */
export function projectEmails(backend: Backend) {
  const { table, clock, random } = backend;
  const projects = projectsIn(table);
  const sendEmail = emailSender(backend);
  const dashboardUrl = dashboardOf(baseUrlOf(backend));
  let summaries: ReturnType<typeof queue> | undefined;

  /** Strongly consistent. Returns an empty budget if none is stored. */
  const budgetOf = async (projectId: string): Promise<EmailBudget> =>
    ((await table.get(itemKey.emails(projectId))) as EmailBudget | undefined) ?? EMPTY_BUDGET;

  /** Stores the next budget if it has not changed since `read`. */
  function saving(projectId: string, { version }: EmailBudget, next: EmailBudget): Write {
    const lastAt = Math.max(next.checkAt, ...next.sentAt);
    const item = { ...next, version: version + 1, expires: timeToLive(lastAt + KEPT_MS) };
    return put({ ...itemKey.emails(projectId), ...item }, version === 0 ? isNew : is('version', version));
  }

  /** The write that takes a place of the budget, for an email that needs no reservation, and when the place is free. */
  async function place(projectId: string, now: number): Promise<{ freeAt: number; taken: Write }> {
    const budget = await budgetOf(projectId);
    return { freeAt: emailAllowedAt(budget, now), taken: saving(projectId, budget, withEmail(budget, now)) };
  }

  /**
   * Reserves an email to a project. After its cause, call the result with the email, or with `null` if none is needed. The result
   * sends the email, unless a summary will contain it. A summary contains `line`, or counts a change of the audit log if it is
   * `null`. `at` is the time of the cause, which the audit log has too.
   */
  async function reserve(
    { id: projectId, emails }: ProjectRecord,
    line: string | null,
    at: number,
  ): Promise<(email: Email | null) => Promise<void>> {
    const id = newId();
    const what = line === null ? { changes: 1, lines: [] } : { changes: 0, lines: [line] };
    const told = { since: at, ...what, to: emails };
    const { isAllowed } = await changed(projectId, (budget, now) => reserved(budget, id, told, now));
    return async (email) => {
      if (isAllowed) await end(projectId, id, email);
    };
  }

  /** Ends a reservation, and sends its email if there is one. A summary repeats an email that cannot be confirmed. */
  async function end(projectId: string, id: string, email: Email | null): Promise<void> {
    if (email) await sendEmail(email);
    await changed(projectId, (budget) => confirmed(budget, id)).catch((error: unknown) => {
      if (!email) throw error;
    });
  }

  /** Sends the summary of a project if one is due. */
  async function summarize({ projectId, checkAt }: SummaryMessage): Promise<void> {
    const id = newId();
    const project = await projects.get(projectId);
    if (!project) return;
    const { told } = await changed(projectId, (budget, now) => summarized(budget, id, now), checkAt);
    if (told) await end(projectId, id, summaryOf(project, told, dashboardUrl, clock()));
  }

  const newId = (): string => Buffer.from(random(9)).toString('base64url');

  /**
   * Changes the budget. Queues the next check, unless another one is under way. `ofCheck` is the time of the check that makes the
   * change, which can come early, because clocks differ. Only the check whose time is stored continues, so that repeated messages
   * do not multiply. If it continues with none, no time must stay that is in the future by any clock, or the next change would rely
   * on it.
   */
  function changed<Change extends { next: EmailBudget }>(
    projectId: string,
    change: (budget: EmailBudget, now: number) => Change,
    ofCheck?: number,
  ): Promise<Change> {
    return optimistically(async () => {
      const now = clock();
      const read = await budgetOf(projectId);
      const made = change(read, now);
      const isUnderWay = read.checkAt > now && read.checkAt !== ofCheck;
      const checkAt = isUnderWay ? undefined : nextCheckAt(made.next, now);
      if (checkAt !== undefined) {
        // The previous release does not set the variable of the queue, so it is read when it is needed.
        summaries ??= queue(backend, 'SUMMARIES_QUEUE_URL');
        await summaries.send({ body: { projectId, checkAt }, delaySeconds: Math.ceil((checkAt - now) / 1000) });
      }
      const saved = saving(projectId, read, { ...made.next, checkAt: checkAt ?? (isUnderWay ? read.checkAt : 0) });
      return (await table.write([saved])).length === 0 ? made : undefined;
    });
  }

  return { projects, dashboardUrl, sendEmail, place, reserve, summarize };
}

/** The email about what was held back. It also goes to the addresses from before a change of the addresses. */
function summaryOf(
  project: ProjectRecord,
  { since, changes, lines, to }: Told,
  dashboardUrl: string,
  now: number,
): Email {
  const counted = changes === 1 ? '1 change is' : `${changes} changes are`;
  return emailOf({
    project,
    dashboardUrl,
    to: recipientsOf({ ...project, emails: [...project.emails, ...to] }, now),
    subject: 'Summary of notifications',
    paragraphs: [
      `A project receives at most 5 emails in 10 minutes. This email contains the other notifications since ${emailTime(since)}.`,
      ...(lines.length > 0 ? [lines.join('\n')] : []),
      ...(changes > 0
        ? [
            `${counted} in the audit log, in the settings of the dashboard. If you did not expect this, revoke the key that the audit log names.`,
          ]
        : []),
    ],
    links: [changes > 0 ? ['Open the audit log', '/live/settings'] : ['Open the dashboard', '']],
  });
}
