import type { Email } from '../email.ts';
import type { Random } from '../ids.ts';
import type { TransactionPart } from '../transaction.ts';
import { type AuditRecord, newAuditRecord } from './audit.ts';
import { isUsable, type KeyRecord } from './keys.ts';
import { type RevocableKeys, revokeSafely } from './last-admin-key.ts';
import { type LeakMatch, type LeakOutcome, leakEmail, placesOf } from './leak-reports.ts';
import type { ProjectRecord } from './projects.ts';

export interface LeakedKeyDeps {
  keys: RevocableKeys & {
    /** Notes that the project was told, once. */
    markLeaked(id: string, leakedAt: number, also: readonly TransactionPart[]): Promise<void>;
  };
  projects: { get(id: string): Promise<ProjectRecord | undefined> };
  audit: { entry(record: AuditRecord): TransactionPart };
  sendEmail(email: Email): Promise<void>;
  clock(): number;
  random: Random;
}

/**
 * Applies `on_leak` of its project to a leaked key. The revocation comes first, then the email, then the record that it was sent,
 * so a repeated report continues at the failed step.
 */
export async function handleLeakedKey(
  record: KeyRecord,
  matches: readonly LeakMatch[],
  address: string,
  { keys, projects, audit, sendEmail, clock, random }: LeakedKeyDeps,
): Promise<void> {
  const project = await projects.get(record.projectId);
  if (!project) throw new Error('The project of a key is gone');
  const now = clock();
  const entry = (action: 'key.revoked' | 'key.leaked', detail: { [member: string]: string | string[] }) =>
    audit.entry(newAuditRecord({ projectId: project.id, at: now, address, action, target: record.id, detail }, random));
  const outcome = await endKey(project, record, now, entry('key.revoked', { reason: 'leaked' }), keys);
  if (record.leakedAt !== undefined) return;
  const places = placesOf(matches);
  await sendEmail(leakEmail(project, record, places, outcome));
  await keys.markLeaked(record.id, now, [entry('key.leaked', { outcome, urls: places })]);
}

async function endKey(
  { onLeak }: ProjectRecord,
  record: KeyRecord,
  now: number,
  entry: TransactionPart,
  keys: RevocableKeys,
): Promise<LeakOutcome> {
  if (record.revokedAsLeaked) return 'revoked'; // by an earlier run of this report, whose email failed
  if (!isUsable(record, now)) return 'ended';
  if (onLeak !== 'revoke') return 'reported';
  const revoked = await revokeSafely(keys, record, { revokedAt: now, revokedAsLeaked: true }, [entry]);
  if (!revoked) return 'kept';
  return revoked.revokedAsLeaked ? 'revoked' : 'ended';
}
