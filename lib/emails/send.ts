import * as v from 'valibot';
import type { Backend } from '../aws/backend.ts';
import { type Email, emailSender, isRejection } from '../aws/email.ts';
import { is, isNew, put } from '../aws/expressions.ts';
import { itemKey, timeToLive } from '../aws/items.ts';
import { queue } from '../aws/queue.ts';
import type { Write } from '../aws/writes.ts';
import { optimistically } from '../concurrency.ts';
import { baseUrlOf, dashboardOf } from '../http/base-url.ts';
import type { ProjectRecord } from '../projects/project.ts';
import { isPending, recipientsOf } from '../projects/recipients.ts';
import { projects as projectsIn } from '../projects/store.ts';
import { confirmationEmail, confirmationToken } from './confirmation.ts';
import {
  confirmed,
  EMPTY_BUDGET,
  type EmailBudget,
  emailAllowedAt,
  hasNews,
  type Line,
  nextCheckAt,
  released,
  reserved,
  summarized,
  type Told,
  withEmail,
} from './email-budget.ts';
import { summaryOf } from './summary.ts';

/** The time for which an unused budget is kept. During an outage, a summary waits longer than the window. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** The message that checks for a summary. */
export const SummaryMessage = v.strictObject({ projectId: v.string(), checkAt: v.number() });
export type SummaryMessage = v.InferOutput<typeof SummaryMessage>;

export type ProjectEmails = ReturnType<typeof projectEmails>;

type Sending = () => Promise<void>;

/**
 * The emails of projects. All emails of a project share one budget. It is a separate item, because functions that cannot change
 * projects change it. An email is reserved before its cause, sent after it, and then confirmed. Emails beyond the budget are held
 * back for one summary. A delayed message checks for a summary. It is sent before the reservation is stored, so no crash can lose a
 * summary, and a crash between the reservation and the confirmation only repeats an email.
 */
export function projectEmails(backend: Backend) {
  const { table, clock, random, reportFailure } = backend;
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
    project: ProjectRecord,
    line: Line | null,
    at: number,
  ): Promise<(email: Email | null) => Promise<void>> {
    const what = line === null ? { changes: 1, lines: [] } : { changes: 0, lines: [line] };
    const end = await reserveFor(project.id, { since: at, ...what, to: recipientsOf(project, at) });
    return (email) => end(email && (() => sendEmail(email)));
  }

  /** Reserves an email. The result sends it, unless it was held back, and ends the reservation. */
  async function reserveFor(projectId: string, told: Told): Promise<(send: Sending | null) => Promise<void>> {
    const id = newId();
    const { isAllowed } = await changed(projectId, (budget, now) => reserved(budget, id, told, now));
    return async (send) => {
      if (isAllowed) await end(projectId, id, send);
    };
  }

  /**
   * Makes a change that adds addresses, and asks their owners. The emails are reserved before the change, and sent after it unless
   * the change returns `false`. A failed email does not stop the change. The check for a summary repeats it.
   */
  async function ask(project: ProjectRecord, emails: readonly string[], change: () => Promise<boolean>) {
    const { id } = project;
    const at = clock();
    const reservations: { email: string; end: (send: Sending | null) => Promise<void> }[] = [];
    for (const email of emails) {
      const told = { since: at, changes: 0, lines: [], to: [], asked: [{ email, at }] };
      reservations.push({ email, end: await reserveFor(id, told) });
    }
    const isChanged = await change();
    for (const { email, end } of reservations) {
      const send = isChanged ? () => sendQuestion(project, email) : null;
      await end(send).catch((error: unknown) => reportFailure('confirmation.not_sent', { project_id: id }, error));
    }
    return isChanged;
  }

  /** Asks the owner of a new address. A rejection is only reported, so that an address cannot cause repeated summaries. */
  async function sendQuestion(project: ProjectRecord, address: string): Promise<void> {
    const now = clock();
    const token = confirmationToken(project, address, now, random);
    await sendEmail(confirmationEmail({ project, dashboardUrl }, address, token, now)).catch((error: unknown) => {
      if (!isRejection(error)) throw error;
      reportFailure('email.rejected', { project_id: project.id }, error);
    });
  }

  /** Sends what was reserved, if anything, and ends the reservation. A summary repeats what cannot be confirmed. */
  async function end(projectId: string, id: string, send: Sending | null): Promise<void> {
    if (!send) return void (await changed(projectId, (budget) => released(budget, id)));
    await send();
    await changed(projectId, (budget) => confirmed(budget, id)).catch(() => {});
  }

  /** Sends the summary of a project, and the emails to new addresses that were held back, if they are due. */
  async function summarize({ projectId, checkAt }: SummaryMessage): Promise<void> {
    const id = newId();
    const project = await projects.get(projectId);
    if (!project) return;
    const isWaiting = (email: string) => isPending(project, email);
    const { told } = await changed(projectId, (budget, now) => summarized(budget, id, now, isWaiting), checkAt);
    if (!told) return;
    await end(projectId, id, async () => {
      for (const { email } of told.asked ?? []) await sendQuestion(project, email);
      if (hasNews(told)) await sendEmail(summaryOf(project, told, dashboardUrl, clock()));
    });
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
        const delaySeconds = Math.ceil((checkAt - now) / 1000);
        await summaries.send({ body: { projectId, checkAt }, group: projectId, delaySeconds });
      }
      const saved = saving(projectId, read, { ...made.next, checkAt: checkAt ?? (isUnderWay ? read.checkAt : 0) });
      return (await table.write([saved])).length === 0 ? made : undefined;
    });
  }

  return { projects, dashboardUrl, sendEmail, place, reserve, ask, summarize };
}
