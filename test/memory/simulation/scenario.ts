import { Invariants } from './invariants.ts';
import { Model } from './model.ts';
import { SimulatedService } from './service.ts';
import { UNREAD_DOCUMENTS } from './unread-documents.ts';
import { isAboutReplicas, isWide, Users } from './users.ts';
import { Violation } from './violation.ts';
import { World } from './world.ts';

export interface ScheduleOptions {
  seed: number;
  /** A limit below the number of the seed, to shrink a failure. */
  maxFaults?: number | undefined;
  maxActions?: number | undefined;
  isTold?: boolean;
}

export interface Outcome {
  violation: Violation | undefined;
  faults: number;
  story: readonly string[];
}

/** More steps than any schedule needs. */
const STEPS_MAX = 20_000;
const FAULTS_MAX = 6;
const ACTIONS_MAX = 12;
const REPLICA_ACTIONS_MAX = 24;
/**
 * A checkpoint allows 30 s from the time that a function reads until its transaction commits, and 30 s for the difference between two
 * clocks (`OVERLAP_MS` in lib/documents/change-log.ts). A function of the API runs for at most 20 s.
 */
const REPLICA_TIMES = { skewMs: 30_000, lateMs: 20_000 };

/** Runs the schedule of a seed until no work is left. */
export async function runSchedule({ seed, maxFaults, maxActions, isTold }: ScheduleOptions): Promise<Outcome> {
  const world = new World({
    seed,
    // Every fourth schedule has no fault, because stricter invariants apply then.
    maxFaults: Math.min(maxFaults ?? FAULTS_MAX, seed % 4 === 0 ? 0 : FAULTS_MAX),
    isTold: isTold ?? false,
    ...(isAboutReplicas(seed) && REPLICA_TIMES),
  });
  const service = new SimulatedService(world, !isAboutReplicas(seed));
  const model = new Model();
  const invariants = new Invariants(service, world, model);
  await service.setUp(isWide(seed) ? UNREAD_DOCUMENTS : []);
  const users = new Users(world, service, model, seed);
  const most = isAboutReplicas(seed) ? REPLICA_ACTIONS_MAX : ACTIONS_MAX;
  const count = Math.min(maxActions ?? most, 1 + Math.floor(world.choosing() ** 3 * most));
  void users.act(count);
  if (await world.run(STEPS_MAX)) {
    invariants.atRest(users.promised);
    let isSettled = false;
    void users.settle().then(() => {
      isSettled = true;
    });
    await world.run(STEPS_MAX, () => isSettled);
    invariants.converged(users.replicas.all, users.promised);
  } else invariants.violation ??= new Violation('All work ends', `not within ${STEPS_MAX} steps`);
  const { faults, story } = world;
  return { violation: invariants.violation, faults, story };
}

/** Finds the fewest faults and actions that break the same promise. Returns them as options of `npm run simulate`. */
export async function shrink(seed: number): Promise<string> {
  const broken = async (limits: object) => (await runSchedule({ seed, ...limits })).violation?.invariant;
  const invariant = await broken({});
  const smallest = { maxFaults: FAULTS_MAX, maxActions: REPLICA_ACTIONS_MAX };
  for (const name of ['maxActions', 'maxFaults'] as const) {
    for (let fewer = 0; fewer < smallest[name]; fewer++)
      if ((await broken({ ...smallest, [name]: fewer })) === invariant) smallest[name] = fewer; // ends the loop
  }
  return `--seed ${seed} --faults ${smallest.maxFaults} --actions ${smallest.maxActions}`;
}
