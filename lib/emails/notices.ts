import type { Email } from '../aws/email.ts';
import type { ReportFailure } from '../aws/log.ts';
import { ConflictError } from '../errors.ts';
import { credentialOf } from '../http/caller.ts';
import { Problem } from '../http/problems.ts';
import type { Request } from '../http/request.ts';
import type { ProjectRecord } from '../projects/project.ts';
import { recipientsOf } from '../projects/recipients.ts';
import { emailOf, emailTime } from './compose.ts';
import { inert } from './inert.ts';
import type { ProjectEmails } from './send.ts';

/** A change that the owners of a project are notified of, because an attacker would make it. */
export interface Notice {
  subject: string;
  /** A sentence about a change that was made. */
  change: string;
}

/** A key as the notices name it. */
interface NamedKey {
  id: string;
  name: string | null;
  type: string;
}

const nameOf = ({ id, name }: Pick<NamedKey, 'id' | 'name'>): string =>
  name === null ? id : `"${inert(name)}" (${id})`;

/** The notice about a new key; `null` if it is no admin key. */
export const keyCreated = (key: NamedKey): Notice | null =>
  key.type === 'admin'
    ? { subject: 'Admin key created', change: `A request created the admin key ${nameOf(key)}.` }
    : null;

/** The notice about a rotated key; `null` if it is no admin key. */
export const keyRotated = (old: NamedKey, fresh: Pick<NamedKey, 'id'>): Notice | null =>
  old.type === 'admin'
    ? { subject: 'Admin key rotated', change: `A request replaced the admin key ${nameOf(old)} with ${fresh.id}.` }
    : null;

/** The notice about a change of the notification addresses; `null` if they do not change. */
export function projectChanged(
  { emails }: Pick<ProjectRecord, 'emails'>,
  change: Partial<ProjectRecord>,
): Notice | null {
  if (!change.emails) return null;
  const listed = (addresses: readonly string[]) => addresses.map(inert).join(', ');
  return {
    subject: 'Notification addresses changed',
    change: `A request changed the notification addresses from ${listed(emails)} to ${listed(change.emails)}.`,
  };
}

/** The email goes to the addresses from before the change. `at` is the time of the request. */
export function noticeEmail(
  project: Pick<ProjectRecord, 'id' | 'name' | 'emails' | 'mailboxes'>,
  { subject, change }: Notice,
  { caller, address }: Pick<Request, 'caller' | 'address'>,
  dashboardUrl: string,
  at: number,
): Email {
  const keyId = credentialOf(caller);
  return emailOf({
    project,
    dashboardUrl,
    to: recipientsOf(project, at),
    subject,
    paragraphs: [
      `${change} It used the key ${keyId} and came from the IP address ${address} on ${emailTime(at)}.`,
      `If you expected this, no action is needed. Otherwise, revoke ${keyId}, and review its changes in the audit log.`,
    ],
    links: [[`Open ${keyId} in the dashboard`, `/live/keys/${keyId}`]],
  });
}

/**
 * Makes a change and emails the project about it, unless the change returns `false` or a problem. The email is reserved before the change, so
 * that a summary reports the change even after a crash. A failed email does not stop the change, but is reported to the operator.
 */
export function notifying(emails: ProjectEmails, reportFailure: ReportFailure) {
  return async <Result>(request: Request, at: number, notice: Notice | null, change: () => Promise<Result>) => {
    if (!notice) return change();
    const { projectId } = request.caller;
    const reporting = <T>(act: () => Promise<T>): Promise<T | undefined> =>
      act().catch((error: unknown) => {
        // Other requests reserve emails at this moment, so an email or a summary leads to the audit log, which has this change too.
        if (error instanceof ConflictError) return undefined;
        const fields = { request_id: request.id, project_id: projectId, notice: notice.subject };
        reportFailure('notice.not_sent', fields, error);
        return undefined;
      });
    const reserved = await reporting(async () => {
      const project = await emails.projects.existing(projectId);
      return { project, send: await emails.reserve(project, null, at) };
    });
    const result = await change();
    if (reserved) {
      const isMade = result !== false && !(result instanceof Problem);
      const email = isMade ? noticeEmail(reserved.project, notice, request, emails.dashboardUrl, at) : null;
      await reporting(() => reserved.send(email));
    }
    return result;
  };
}
