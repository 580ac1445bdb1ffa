import type { KeyRecord } from '../keys/key.ts';
import { iso } from '../schema.ts';
import { type Email, emailOf, type Recipients } from './emails.ts';
import type { ProjectRecord } from './project.ts';

/** A change that the owners of a project are notified of, because an attacker would make it. */
export interface Notice {
  subject: string;
  /** One sentence for each change. */
  changes: string[];
}

/** Who makes a change. */
export interface NoticeSource {
  /** The id of the key. */
  keyId: string;
  address: string;
  /** Milliseconds since 1970. */
  at: number;
}

const nameOf = ({ id, name }: Pick<KeyRecord, 'id' | 'name'>): string => (name === null ? id : `"${name}" (${id})`);

export const adminKeyCreated = (key: Pick<KeyRecord, 'id' | 'name'>): Notice => ({
  subject: 'Admin key created',
  changes: [`Creates the admin key ${nameOf(key)}.`],
});

export const adminKeyRotated = (old: Pick<KeyRecord, 'id' | 'name'>, fresh: Pick<KeyRecord, 'id'>): Notice => ({
  subject: 'Admin key rotated',
  changes: [`Replaces the admin key ${nameOf(old)} with ${fresh.id}.`],
});

/** The notice about a change of the notification addresses; `null` if they do not change. */
export function projectChanged(
  { emails }: Pick<ProjectRecord, 'emails'>,
  change: Partial<ProjectRecord>,
): Notice | null {
  if (!change.emails) return null;
  const changes = [`Sends notifications to ${change.emails.join(', ')} instead of ${emails.join(', ')}.`];
  return { subject: 'Security settings changed', changes };
}

/** The email goes to the addresses from before the change. */
export const noticeEmail = (
  project: Recipients & Pick<ProjectRecord, 'name'>,
  { subject, changes }: Notice,
  { keyId, address, at }: NoticeSource,
): Email =>
  emailOf(project, `${subject} (${project.name})`, [
    `A request to the project "${project.name}":\n${changes.join('\n')}`,
    `Key: ${keyId}\nIP address: ${address}\nTime: ${iso(at)}`,
    'If you expected this, no action is needed. Otherwise, revoke that key and review the audit log (GET /v1/audit).',
  ]);
