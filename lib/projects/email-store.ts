import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { emailSender } from '../aws/email.ts';
import { is, isNew, put } from '../aws/expressions.ts';
import { itemKey, timeToLive } from '../aws/items.ts';
import { queue } from '../aws/queue.ts';
import type { Write } from '../aws/writes.ts';
import { optimistically } from '../concurrency.ts';
import {
  confirmed,
  EMPTY_BUDGET,
  type EmailBudget,
  nextCheckAt,
  reserved,
  summarized,
  type Told,
} from './email-budget.ts';
import { type Email, emailOf, emailTime, recipientsOf } from './emails.ts';
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

  /**
   * Reserves an email to a project and returns its id, or `null` if a summary will contain it. A summary contains `line`, or
   * counts a change of the audit log if it is `null`. `at` is the time of the cause, which the audit log has too.
   */
  async function reserve(
    { id: projectId, emails }: ProjectRecord,
    line: string | null,
    at: number,
  ): Promise<string | null> {
    const id = newId();
    const what = line === null ? { changes: 1, lines: [] } : { changes: 0, lines: [line] };
    const isAllowed = await changed(projectId, (budget, now) => {
      const { next, isAllowed } = reserved(budget, id, { since: at, ...what, to: emails }, now);
      return [next, isAllowed];
    });
    return isAllowed ? id : null;
  }

  /** Ends a reservation whose email was sent or is not needed. */
  const confirm = (projectId: string, id: string): Promise<void> =>
    changed(projectId, (budget) => [confirmed(budget, id), undefined]);

  /** Sends a reserved email. A summary repeats it if it cannot be confirmed. */
  async function send(id: string, email: Email): Promise<void> {
    await sendEmail(email);
    await confirm(email.projectId, id).catch(() => {});
  }

  /** Sends the summary of a project if one is due. */
  async function summarize({ projectId, checkAt }: SummaryMessage, dashboardUrl: string): Promise<void> {
    const id = newId();
    const project = await projects.get(projectId);
    if (!project) return;
    const told = await changed(
      projectId,
      (budget, now) => {
        const { next, told } = summarized(budget, id, now);
        return [next, told];
      },
      checkAt,
    );
    if (told) await send(id, summaryOf(project, told, dashboardUrl, clock()));
  }

  const newId = (): string => Buffer.from(random(9)).toString('base64url');

  /**
   * Changes the budget. Queues the next check, unless another one is under way. `ofCheck` is the time of the check that makes the
   * change, which can come early, because clocks differ. Only the check whose time is stored continues, so that repeated messages
   * do not multiply.
   */
  async function changed<T>(
    projectId: string,
    change: (budget: EmailBudget, now: number) => [EmailBudget, T],
    ofCheck?: number,
  ): Promise<T> {
    const [result] = await optimistically(async () => {
      const now = clock();
      const read = await budgetOf(projectId);
      const [next, result] = change(read, now);
      const isUnderWay = read.checkAt > now && read.checkAt !== ofCheck;
      const checkAt = isUnderWay ? undefined : nextCheckAt(next, now);
      if (checkAt !== undefined) {
        // The previous release does not set the variable of the queue, so it is read when it is needed.
        summaries ??= queue(backend, 'SUMMARIES_QUEUE_URL');
        await summaries.send({ body: { projectId, checkAt }, delaySeconds: Math.ceil((checkAt - now) / 1000) });
      }
      const saved = saving(projectId, read, { ...next, checkAt: checkAt ?? next.checkAt });
      return (await table.write([saved])).length === 0 ? ([result] as const) : undefined;
    });
    return result;
  }

  return { projects, budgetOf, saving, sendEmail, reserve, confirm, send, summarize };
}

/** The email about what was held back. It also goes to the addresses from before a change of the addresses. */
function summaryOf(
  project: ProjectRecord,
  { since, changes, lines, to }: Told,
  dashboardUrl: string,
  now: number,
): Email {
  const counted = changes === 1 ? '1 change is' : `${changes} changes are`;
  return emailOf(
    { project, dashboardUrl },
    {
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
    },
  );
}
