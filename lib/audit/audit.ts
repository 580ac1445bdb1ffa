import * as v from 'valibot';
import { described, iso, jsonObject, resource, timestamp } from '../schema.ts';

/** The retention of audit entries in days. */
const AUDIT_DAYS = 400;
export const AUDIT_KEPT_MS = AUDIT_DAYS * 24 * 60 * 60 * 1000;

const AUDIT_ACTIONS = [
  'project.created',
  'project.changed',
  'project.suspended',
  'project.resumed',
  'project.test_email_sent',
  'project.email_confirmed',
  'project.confirmation_requested',
  'key.created',
  'key.changed',
  'key.rotated',
  'key.revoked',
  'key.allowlist_set',
  'key.leaked', // stored by release 0.1.0, which received reports of leaked keys
  'token.revoked',
  'webhook.created',
  'webhook.changed',
  'webhook.disabled',
  'webhook.secret_rotated',
  'webhook.deleted',
] as const;

export const AuditEntryResource = resource('AuditEntry', {
  id: described(v.string(), 'Identifies the entry.'),
  at: described(timestamp, 'When the change was made.'),
  actor: described(
    v.nullable(v.string()),
    'The key that was used; `null` if the service, the operator or the owner of an email address made the change.',
  ),
  address: described(
    v.nullable(v.string()),
    'The IP address of the request; `null` if the change did not come through the API.',
  ),
  link: described(
    v.nullable(v.object({ user: described(v.nullable(v.string()), 'The `user` of the link; `null` if it has none.') })),
    'The dashboard link of the `actor` with which a person made the change; `null` if there was none.',
  ),
  action: described(v.picklist(AUDIT_ACTIONS), 'The kind of change.'),
  target: described(v.string(), 'The id of the changed resource.'),
  detail: described(jsonObject, 'Details of the change. Never contains secrets.'),
});

/** An entry of the audit log, which is stored for its project. It never contains secrets. */
export interface AuditRecord extends Omit<v.InferOutput<typeof AuditEntryResource>, 'at'> {
  projectId: string;
  at: number;
}

/** A change to record. Without an `actor` and an `address`, it did not come through the API. */
export type AuditedChange = Pick<AuditRecord, 'projectId' | 'at' | 'action' | 'target'> &
  Partial<Pick<AuditRecord, 'actor' | 'address' | 'link' | 'detail'>>;

/** A change without the project and the author of the request. */
export type ChangeEntry = Omit<AuditedChange, 'projectId' | 'actor' | 'address' | 'link'>;

export const auditResource = ({ at, id, actor, address, link, action, target, detail }: AuditRecord) => ({
  id,
  at: iso(at),
  actor,
  address,
  link,
  action,
  target,
  detail,
});
