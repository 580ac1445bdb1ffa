import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { command, runCommand } from '../../../infra/commands/command.ts';
import { integer, type Parsed } from '../../../infra/commands/usage.ts';
import { UserError } from '../../../infra/user-error.ts';
import { loadSimulation } from './plant.ts';
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts';

const USAGE = {
  command: 'npm run simulate --',
  about: 'Runs random schedules of requests, faults and time against the service in memory, and checks its promises.',
  options: {
    seeds: { type: 'string', value: 'N', about: 'number of schedules', default: '10000' },
    from: { type: 'string', value: 'N', about: 'the first seed', default: '1' },
    coverage: { type: 'boolean', default: false, about: 'print which faults and states occurred' },
    seed: { type: 'string', value: 'N', about: 'run one schedule, and print every step' },
    faults: { type: 'string', value: 'N', about: 'with --seed: only the first N faults' },
    actions: { type: 'string', value: 'N', about: 'with --seed: only the first N actions' },
    bug: { type: 'string', value: 'NAME', about: 'plant a bug, and look for the promise that it breaks' },
  },
} as const;

/** The schedules of one thread. It stops at the first broken promise. With a bug, it must be the promise of the bug. */
export interface Part {
  from: number;
  seeds: number;
  bug: PlantedBug | undefined;
}

/** A report of a thread. The last one is complete. */
export interface Progress {
  schedules: number;
  faults: number;
  coverage: [string, number][];
  failed: { seed: number; message: string } | undefined;
}

const REPORT_EVERY = 500;

if (isMainThread) await runCommand(command(USAGE, main));
else await work(workerData as Part);

async function main({ values }: Parsed<(typeof USAGE)['options']>): Promise<void> {
  const bug = PLANTED_BUGS.find(({ name }) => name === values.bug);
  if (values.bug !== undefined && !bug)
    throw new UserError(`--bug must be one of: ${PLANTED_BUGS.map(({ name }) => name).join('; ')}.`);
  const count = (option: 'seeds' | 'from' | 'seed' | 'faults' | 'actions') => {
    const text = values[option];
    return text === undefined ? undefined : integer(option, text, 0, Number.MAX_SAFE_INTEGER);
  };
  const seed = count('seed');
  if (seed !== undefined) return tell(seed, bug, count('faults'), count('actions'));
  await runMany({ from: count('from') ?? 1, seeds: count('seeds') ?? 1, bug }, values.coverage);
}

async function tell(seed: number, bug: PlantedBug | undefined, maxFaults?: number, maxActions?: number): Promise<void> {
  const { runSchedule } = await loadSimulation(bug);
  const { violation, story } = await runSchedule({ seed, maxFaults, maxActions, isTold: true });
  console.log(story.join('\n'));
  console.log(violation ? `\n✗ ${violation.message}` : '\n✓ Every promise was kept.');
  process.exitCode = violation ? 1 : 0;
}

async function runMany({ from, seeds, bug }: Part, isCoverageShown: boolean): Promise<void> {
  const started = performance.now();
  const threads = Math.min(availableParallelism(), seeds);
  const share = Math.ceil(seeds / threads);
  const progress = new Map<number, Progress>();
  const coverage = new Map<string, number>();
  let failed: Progress['failed'];
  const print = () => {
    const all = [...progress.values()];
    const done = all.reduce((sum, { schedules }) => sum + schedules, 0);
    const faults = all.reduce((sum, each) => sum + each.faults, 0);
    const seconds = (performance.now() - started) / 1000;
    const rate = Math.round(done / seconds);
    process.stdout.write(
      `\r${done} of ${seeds} schedules, ${rate} a second, ${faults} faults, ${coverage.size} kinds of fault × call and action × state`,
    );
  };
  const workers = Array.from({ length: threads }, (_, i) => {
    const part: Part = { from: from + i * share, seeds: Math.min(share, seeds - i * share), bug };
    const worker = new Worker(new URL(import.meta.url), { workerData: part });
    worker.on('message', (report: Progress) => {
      progress.set(i, report);
      for (const [name, count] of report.coverage) coverage.set(name, (coverage.get(name) ?? 0) + count);
      failed ??= report.failed;
      print();
    });
    return new Promise<void>((resolve, reject) => worker.on('exit', () => resolve()).on('error', reject));
  });
  await Promise.all(workers);
  console.log();
  if (isCoverageShown) {
    const sorted = [...coverage].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [name, count] of sorted) console.log(`${String(count).padStart(12)}  ${name}`);
  }
  if (!failed) return console.log('Every promise was kept.');
  const { shrink } = await loadSimulation(bug);
  const smallest = await shrink({ seed: failed.seed });
  const options = `--seed ${smallest.seed} --faults ${smallest.maxFaults} --actions ${smallest.maxActions}`;
  console.log(
    `✗ ${failed.message}\nThe smallest schedule that shows it: npm run simulate -- ${options}${bug ? ` --bug '${bug.name}'` : ''}`,
  );
  process.exitCode = 1;
}

async function work({ from, seeds, bug }: Part): Promise<void> {
  const { runSchedule } = await loadSimulation(bug);
  const report: Progress = { schedules: 0, faults: 0, coverage: [], failed: undefined };
  let coverage = new Map<string, number>();
  Error.stackTraceLimit = 0; // simulated errors need no stack traces, except with `--seed`
  const send = () => {
    parentPort?.postMessage({ ...report, coverage: [...coverage] });
    coverage = new Map();
  };
  for (let seed = from; seed < from + seeds && !report.failed; seed++) {
    const outcome = await runSchedule({ seed });
    report.schedules++;
    report.faults += outcome.faults;
    for (const [name, count] of outcome.coverage) coverage.set(name, (coverage.get(name) ?? 0) + count);
    for (const [name, count] of outcome.actions)
      coverage.set(`user: ${name}`, (coverage.get(`user: ${name}`) ?? 0) + count);
    const { violation } = outcome;
    if (violation && (bug?.promise ?? violation.invariant) === violation.invariant)
      report.failed = { seed, message: violation.message };
    if (report.schedules % REPORT_EVERY === 0) send();
  }
  send();
}
