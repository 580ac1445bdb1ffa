import type { KeyRecord } from '../keys/key.ts';
import { dashboardOf, type Email, emailOf, emailTime, inert, linkTo } from './emails.ts';
import { recipientsOf } from './mailboxes.ts';
import type { ProjectRecord } from './project.ts';

/** A change that the owners of a project are notified of, because an attacker would make it. */
export interface Notice {
  subject: string;
  /** A sentence about a change that was made. */
  change: string;
}

/** Who makes a change. */
export interface NoticeSource {
  /** The id of the key. */
  keyId: string;
  address: string;
  /** The base URL of the request. */
  baseUrl: string;
  /** Milliseconds since 1970. */
  at: number;
}

const nameOf = ({ id, name }: Pick<KeyRecord, 'id' | 'name'>): string =>
  name === null ? id : `"${inert(name)}" (${id})`;

export const adminKeyCreated = (key: Pick<KeyRecord, 'id' | 'name'>): Notice => ({
  subject: 'Admin key created',
  change: `A request created the admin key ${nameOf(key)}.`,
});

export const adminKeyRotated = (old: Pick<KeyRecord, 'id' | 'name'>, fresh: Pick<KeyRecord, 'id'>): Notice => ({
  subject: 'Admin key rotated',
  change: `A request replaced the admin key ${nameOf(old)} with ${fresh.id}.`,
});

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

/** The email goes to the addresses from before the change. */
export function noticeEmail(
  project: Pick<ProjectRecord, 'id' | 'name' | 'emails' | 'undeliverable'>,
  { subject, change }: Notice,
  { keyId, address, baseUrl, at }: NoticeSource,
): Email {
  const context = { project, dashboardUrl: dashboardOf(baseUrl) };
  return emailOf(
    recipientsOf(project, at).to,
    context,
    subject,
    [
      `${change} It used the key ${keyId} and came from the IP address ${address} on ${emailTime(at)}.`,
      `If you expected this, no action is needed. Otherwise, revoke ${keyId}, and review its changes in the audit log.`,
    ],
    linkTo(context, `Open ${keyId} in the dashboard`, `/live/keys/${keyId}`),
  );
}
