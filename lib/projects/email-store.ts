import * as v from 'valibot';
import { optimistically } from '../concurrency.ts';
import type { Random } from '../ids.ts';
import { confirmed, type EmailBudget, nextCheckAt, reserved, summarized, type Told } from './email-budget.ts';
import type { EmailBudgets } from './email-budget-store.ts';
import { type Email, emailOf, emailTime, linkTo } from './emails.ts';
import { recipientsOf } from './mailboxes.ts';
import type { ProjectRecord } from './project.ts';
import type { ProjectStore } from './store.ts';

/*
 * All emails of a project share one budget. An email is reserved before its cause, sent after it, and then confirmed. Emails
 * beyond the budget are held back for one summary. A delayed message checks for a summary. It is sent before the reservation is
 * stored, so no crash can lose a summary, and a crash between the reservation and the confirmation only repeats an email.
 */

/** The message that checks for a summary. */
export const SummaryMessage = v.strictObject({ projectId: v.string(), checkAt: v.number() });
export type SummaryMessage = v.InferOutput<typeof SummaryMessage>;

export interface ProjectEmailsDeps {
  budgets: EmailBudgets;
  projects: Pick<ProjectStore, 'get'>;
  sendEmail(email: Email): Promise<void>;
  scheduleSummary(message: SummaryMessage, delaySeconds: number): Promise<void>;
  clock(): number;
  random: Random;
}

export type ProjectEmails = ReturnType<typeof projectEmails>;

/** What sends the emails of projects. */
export interface Emailing extends Pick<ProjectEmailsDeps, 'budgets' | 'sendEmail'> {
  emails: ProjectEmails;
}

export function projectEmails({ budgets, projects, sendEmail, scheduleSummary, clock, random }: ProjectEmailsDeps) {
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
      const read = await budgets.get(projectId);
      const [next, result] = change(read, now);
      const isUnderWay = read.checkAt > now && read.checkAt !== ofCheck;
      const checkAt = isUnderWay ? undefined : nextCheckAt(next, now);
      if (checkAt !== undefined) await scheduleSummary({ projectId, checkAt }, Math.ceil((checkAt - now) / 1000));
      const isSaved = await budgets.save(projectId, read, { ...next, checkAt: checkAt ?? next.checkAt });
      return isSaved ? ([result] as const) : undefined;
    });
    return result;
  }

  return { reserve, confirm, send, summarize };
}

/** The email about what was held back. It also goes to the addresses from before a change of the addresses. */
function summaryOf(
  project: ProjectRecord,
  { since, changes, lines, to }: Told,
  dashboardUrl: string,
  now: number,
): Email {
  const context = { project, dashboardUrl };
  const counted = changes === 1 ? '1 change is' : `${changes} changes are`;
  const from = emailTime(since);
  return emailOf(
    recipientsOf({ ...project, emails: [...project.emails, ...to] }, now).to,
    context,
    'Summary of notifications',
    [
      `A project receives at most 5 emails in 10 minutes. This email contains the other notifications since ${from}.`,
      ...(lines.length > 0 ? [lines.join('\n')] : []),
      ...(changes > 0
        ? [
            `${counted} in the audit log, in the settings of the dashboard. If you did not expect this, revoke the key that the audit log names.`,
          ]
        : []),
    ],
    changes > 0 ? linkTo(context, 'Open the audit log', '/live/settings') : linkTo(context, 'Open the dashboard', ''),
  );
}
