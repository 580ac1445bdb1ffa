import { hashApiKey, parseApiKey, sameHash } from '../access/api-key.ts';
import type { KeyRecord } from '../access/keys.ts';
import type { LeakMatch } from '../access/leak-reports.ts';
import { handleLeakedKey, type LeakedKeyDeps } from '../access/leaked-keys.ts';
import { allDone } from '../all-done.ts';
import { createLimiter } from '../limiter.ts';

/** Keys that are handled at the same time. */
const AT_ONCE = 8;

/** Handles every genuine key of a report, and returns which matches are genuine. */
export function leakHandler(deps: LeakedKeyDeps) {
  return async (matches: readonly LeakMatch[], address: string) => {
    const limited = createLimiter(AT_ONCE);
    const byToken = Map.groupBy(matches, ({ token }) => token);
    const genuine = new Set<string>();
    await allDone(
      Array.from(byToken, ([token, matchesOfToken]) =>
        limited(async () => {
          const record = await genuineKey(token);
          if (!record) return;
          genuine.add(token);
          await handleLeakedKey(record, matchesOfToken, address, deps);
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
    const record = parsed ? await deps.keys.get(parsed.id) : undefined;
    return record && sameHash(hashApiKey(token), record.hash) ? record : undefined;
  }
}
