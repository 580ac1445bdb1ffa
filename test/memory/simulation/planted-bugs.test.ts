import { describe, it } from 'vitest';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { runSchedule } from './scenario.ts';

/** The number of schedules within which every bug is found. */
const BUG_SCHEDULES = 20_000;
/** The first seeds for bugs that need many schedules, slightly before the seed that finds them. */
const LATE: Record<string, number> = {
  'a throttled partition fails its whole batch': 11303,
  'a redelivery that was not queued succeeds': 7824,
  'the email is sent before it is claimed': 4882,
  'a lease renewed during its check is not checked again': 4705,
  'a revoked token still works': 4271,
  'every overdue attempt stays in the quick lane': 3182,
  'the last admin key can be revoked': 1928,
  'a message that another run is processing is acknowledged': 1789,
  'a failed email is not sent again': 1355,
  'the email is not recorded as sent': 1310,
  'concurrent batches use the same tokens': 1252,
  'a message that waited needs no token': 1252,
  'a revoked key still works': 1171,
  'a message that its own copy is processing is acknowledged': 1101,
  'a rotated key never expires': 832,
  'a recovery stops after its first page': 663,
  'a second message of a schedule repeats its attempt': 625,
  'a delay counts as an attempt': 559,
  'a write overwrites concurrent writes': 453,
  'a connection is stored before its check is queued': 432,
  'a sync omits deleted documents': 308,
  'the response is not stored with the event': 307,
  'a rotated key expires immediately': 252,
  'a repeated batch creates new events': 237,
  'an idempotency key takes no lock': 237,
  'a delayed delivery is dropped': 141,
  'an overdue attempt never leaves the quick lane': 108,
  'a failure to queue the retry is ignored': 81,
  'expired secrets still sign': 57,
  'a sync cycle completes twice': 56,
  'schedules of different attempts share a name': 50,
  'a webhook is disabled twice': 42,
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
