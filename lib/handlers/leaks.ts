import { hashApiKey, parseApiKey, sameHash } from '../access/api-key.ts';
import { isUsable, type KeyRecord } from '../access/keys.ts';
import { type RevocableKeys, revokeSafely } from '../access/last-admin-key.ts';
import { type LeakMatch, type LeakOutcome, leakEmail, placesOf } from '../access/leaks.ts';
import type { ProjectRecord } from '../access/projects.ts';
import type { Email } from '../email.ts';
import { type Random, sortableId } from '../ids.ts';
import { createLimiter } from '../limiter.ts';
import type { TransactionPart } from '../transaction.ts';
import type { AuditLog } from './audit.ts';

export interface LeaksDeps {
  keys: RevocableKeys & {
    get(id: string): Promise<KeyRecord | undefined>;
    /** Notes that the project was told, once. */
    markLeaked(id: string, leakedAt: number, also: readonly TransactionPart[]): Promise<void>;
  };
  projects: { get(id: string): Promise<ProjectRecord | undefined> };
  audit: Pick<AuditLog, 'entry'>;
  sendEmail(email: Email): Promise<void>;
  clock(): number;
  random: Random;
}

/** Keys that are handled at the same time. */
const AT_ONCE = 8;

/**
 * Applies `on_leak` of its project to every genuine key of a report, and returns which matches are genuine. The revocation
 * comes first, then the email, then the note that the email was sent. A repeated report continues at the step that failed.
 */
export function leakHandler({ keys, projects, audit, sendEmail, clock, random }: LeaksDeps) {
  return async (matches: readonly LeakMatch[], address: string) => {
    const limited = createLimiter(AT_ONCE);
    const byToken = Map.groupBy(matches, ({ token }) => token);
    const genuine = new Set<string>();
    await Promise.all(
      Array.from(byToken, ([token, found]) =>
        limited(async () => {
          const record = await genuineKey(token);
          if (!record) return;
          genuine.add(token);
          await handle(record, found, address);
        }),
      ),
    );
    return matches.map(({ token, type }) => ({
      token_hash: hashApiKey(token),
      token_type: type,
      label: genuine.has(token) ? ('true_positive' as const) : ('false_positive' as const),
    }));
  };

  async function genuineKey(token: string): Promise<KeyRecord | undefined> {
    const parsed = parseApiKey(token);
    const record = parsed ? await keys.get(parsed.id) : undefined;
    return record && sameHash(hashApiKey(token), record.hash) ? record : undefined;
  }

  async function handle(record: KeyRecord, found: readonly LeakMatch[], address: string): Promise<void> {
    const project = await projects.get(record.projectId);
    if (!project) throw new Error('The project of a key is gone');
    const now = clock();
    const entry = (action: 'key.revoked' | 'key.leaked', detail: { [member: string]: string | string[] }) =>
      audit.entry({
        id: sortableId('aud', now, random),
        projectId: project.id,
        at: now,
        actor: null,
        address,
        action,
        target: record.id,
        detail,
      });
    const outcome = await end(project, record, now, entry('key.revoked', { reason: 'leaked' }));
    if (record.leakedAt !== undefined) return;
    const places = placesOf(found);
    await sendEmail(leakEmail(project, record, places, outcome));
    await keys.markLeaked(record.id, now, [entry('key.leaked', { outcome, urls: places })]);
  }

  async function end(
    { onLeak }: ProjectRecord,
    record: KeyRecord,
    now: number,
    entry: TransactionPart,
  ): Promise<LeakOutcome> {
    if (record.revokedAsLeaked) return 'revoked'; // by an earlier run of this report, whose email failed
    if (!isUsable(record, now)) return 'ended';
    if (onLeak !== 'revoke') return 'reported';
    return (await revokeSafely(keys, record, { revokedAt: now, revokedAsLeaked: true }, [entry])) ? 'revoked' : 'kept';
  }
}
