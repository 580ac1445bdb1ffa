import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { command, runCommand } from '../../../infra/commands/command.ts';
import { integer, type Parsed } from '../../../infra/commands/usage.ts';
import { UserError } from '../../../infra/user-error.ts';
import { loadSimulation } from './plant.ts';
import { type Invariant, PLANTED_BUGS } from './planted-bugs.ts';

const USAGE = {
  command: 'npm run simulate --',
  about: 'Runs random schedules of requests, faults and time against the service in memory, and checks its promises.',
  options: {
    seeds: { type: 'string', value: 'N', about: 'number of schedules', default: '10000' },
    from: { type: 'string', value: 'N', about: 'the first seed', default: '1' },
    minutes: { type: 'string', value: 'N', about: 'starts no schedule after this time, if fewer than --seeds' },
    seed: { type: 'string', value: 'N', about: 'run one schedule, and print every step' },
    faults: { type: 'string', value: 'N', about: 'with --seed: only the first N faults' },
    actions: { type: 'string', value: 'N', about: 'with --seed: only the first N actions' },
    bug: { type: 'string', value: 'PROMISE', about: 'plant the bug that breaks this promise, and look for it' },
  },
} as const;

/** The schedules of one thread. It stops at the first broken promise. With a bug, it must be the promise that the bug breaks. */
export interface Part {
  from: number;
  seeds: number;
  minutes?: number | undefined;
  broken: Invariant | undefined;
}

/** A report of a thread. The last one is complete. */
export interface Progress {
  schedules: number;
  faults: number;
  failed: { seed: number; message: string } | undefined;
}

const REPORT_EVERY = 500;

if (isMainThread) await runCommand(command(USAGE, main));
else await work(workerData as Part);

async function main({ values }: Parsed<(typeof USAGE)['options']>): Promise<void> {
  const promises = Object.keys(PLANTED_BUGS) as Invariant[];
  const broken = promises.find((promise) => promise === values.bug);
  if (values.bug !== broken) throw new UserError(`--bug must be one of: ${promises.join('; ')}.`);
  const count = (option: 'seeds' | 'from' | 'minutes' | 'seed' | 'faults' | 'actions') => {
    const text = values[option];
    return text === undefined
      ? undefined
      : integer(option, text, option === 'minutes' ? 1 : 0, Number.MAX_SAFE_INTEGER);
  };
  const seed = count('seed');
  if (seed !== undefined) return tell(seed, broken, count('faults'), count('actions'));
  await runMany({ from: count('from') ?? 1, seeds: count('seeds') ?? 1, minutes: count('minutes'), broken });
}

async function tell(seed: number, broken: Part['broken'], maxFaults?: number, maxActions?: number): Promise<void> {
  const { runSchedule } = await loadSimulation(broken);
  const { violation, story } = await runSchedule({ seed, maxFaults, maxActions, isTold: true });
  console.log(story.join('\n'));
  console.log(violation ? `\n✗ ${violation.message}` : '\n✓ Every promise was kept.');
  process.exitCode = violation ? 1 : 0;
}

async function runMany({ from, seeds, minutes, broken }: Part): Promise<void> {
  const started = performance.now();
  const threads = Math.min(availableParallelism(), seeds);
  const share = Math.ceil(seeds / threads);
  const progress = new Map<number, Progress>();
  let failed: Progress['failed'];
  const print = () => {
    const all = [...progress.values()];
    const done = all.reduce((sum, { schedules }) => sum + schedules, 0);
    const faults = all.reduce((sum, each) => sum + each.faults, 0);
    const seconds = (performance.now() - started) / 1000;
    const rate = Math.round(done / seconds);
    process.stdout.write(`\r${done} of ${seeds} schedules, ${rate} a second, ${faults} faults`);
  };
  const workers: Worker[] = Array.from({ length: threads }, (_, i) => {
    const part: Part = { from: from + i * share, seeds: Math.min(share, seeds - i * share), minutes, broken };
    const worker = new Worker(new URL(import.meta.url), { workerData: part });
    worker.on('message', (report: Progress) => {
      progress.set(i, report);
      failed ??= report.failed;
      print();
      if (report.failed) for (const each of workers) void each.terminate();
    });
    return worker;
  });
  await Promise.all(workers.map((worker) => once(worker, 'exit'))); // or throws an error of a worker
  console.log();
  if (!failed) return console.log('Every promise was kept.');
  const { shrink } = await loadSimulation(broken);
  const options = await shrink(failed.seed);
  console.log(
    `✗ ${failed.message}\nThe smallest schedule that shows it: npm run simulate -- ${options}${broken ? ` --bug '${broken}'` : ''}`,
  );
  process.exitCode = 1;
}

async function work({ from, seeds, minutes = Number.POSITIVE_INFINITY, broken }: Part): Promise<void> {
  const { runSchedule } = await loadSimulation(broken);
  const report: Progress = { schedules: 0, faults: 0, failed: undefined };
  Error.stackTraceLimit = 0; // simulated errors need no stack traces, except with `--seed`
  const send = () => parentPort?.postMessage(report);
  const end = performance.now() + minutes * 60_000;
  for (let seed = from; seed < from + seeds && performance.now() < end && !report.failed; seed++) {
    const { violation, faults } = await runSchedule({ seed });
    report.schedules++;
    report.faults += faults;
    if (violation && (broken ?? violation.invariant) === violation.invariant)
      report.failed = { seed, message: violation.message };
    if (report.schedules % REPORT_EVERY === 0) send();
  }
  send();
}
