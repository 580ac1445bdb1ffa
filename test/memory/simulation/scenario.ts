import { Invariants, Violation } from './invariants.ts';
import { SimulatedService } from './service.ts';
import { Users } from './users.ts';
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

/** Runs the schedule of a seed until no work is left. */
export async function runSchedule({ seed, maxFaults, maxActions, isTold }: ScheduleOptions): Promise<Outcome> {
  const world = new World({
    seed,
    // Every fourth schedule has no fault, because stricter invariants apply then.
    maxFaults: Math.min(maxFaults ?? FAULTS_MAX, seed % 4 === 0 ? 0 : FAULTS_MAX),
    isTold: isTold ?? false,
  });
  const service = new SimulatedService(world);
  const invariants = new Invariants(service, world);
  await service.setUp();
  const users = new Users(world, service, seed);
  const count = Math.min(maxActions ?? ACTIONS_MAX, 1 + Math.floor(world.choosing() ** 3 * ACTIONS_MAX));
  void users.act(count);
  if (await world.run(STEPS_MAX)) {
    invariants.atRest(users.promised);
    let isSettled = false;
    void users.settle().then(() => {
      isSettled = true;
    });
    await world.run(STEPS_MAX, () => isSettled);
    invariants.converged(users.nodes.all, users.promised);
  } else invariants.violation ??= new Violation('All work ends', `not within ${STEPS_MAX} steps`);
  const { faults, story } = world;
  return { violation: invariants.violation, faults, story };
}

/** Finds the fewest faults and actions that break the same promise. Returns them as options of `npm run simulate`. */
export async function shrink(seed: number): Promise<string> {
  const broken = async (limits: object) => (await runSchedule({ seed, ...limits })).violation?.invariant;
  const invariant = await broken({});
  const smallest = { maxFaults: FAULTS_MAX, maxActions: ACTIONS_MAX };
  for (const name of ['maxActions', 'maxFaults'] as const) {
    for (let fewer = 0; fewer < smallest[name]; fewer++)
      if ((await broken({ ...smallest, [name]: fewer })) === invariant) smallest[name] = fewer; // ends the loop
  }
  return `--seed ${seed} --faults ${smallest.maxFaults} --actions ${smallest.maxActions}`;
}
