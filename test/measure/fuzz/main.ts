import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble } from '../../../infra/local/assembly.ts';
import { startDatabase } from '../../../infra/local/services/database.ts';
import { startStack } from '../../../infra/local/stack.ts';
import { attack, type Run } from './schemathesis.ts';
import { CALLER_TYPES, createSubject } from './subjects.ts';

// Runs Schemathesis against the local stack with every type of caller. FUZZ_SEED and FUZZ_EXAMPLES set the
// seed and the number of requests, and FUZZ_CALLERS selects types of callers. The same seed sends the same requests.
const seed = Number(process.env.FUZZ_SEED ?? 20_260_131);
const maxExamples = Number(process.env.FUZZ_EXAMPLES ?? 3);

const wanted: string[] = process.env.FUZZ_CALLERS?.split(',') ?? [...CALLER_TYPES];
const callers = CALLER_TYPES.filter((type) => wanted.includes(type));
if (callers.length < wanted.length) throw new Error(`FUZZ_CALLERS must contain only ${CALLER_TYPES}`);

const started = performance.now();
const directory = mkdtempSync(join(tmpdir(), 'service-fuzz-'));
process.on('SIGINT', () => process.exit(130)).on('SIGTERM', () => process.exit(143));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const errors: string[] = [];
const database = await startDatabase();
const stack = await startStack({
  assembly: await assemble(),
  databaseEndpoint: database.endpoint,
  output: (id, text) =>
    void errors.push(
      ...text
        .split('\n')
        .filter(isError)
        .map((line) => `${id} ${line}`),
    ),
});
console.log(`Fuzzing ${stack.baseUrl} with FUZZ_SEED=${seed} FUZZ_EXAMPLES=${maxExamples}`);

report(await Promise.all(callers.map(run)));

/** A line of the logger of a function, or of a crashed function. */
function isError(line: string): boolean {
  return line.includes('"level":"ERROR"') || /^\w*Error\b/.test(line);
}

async function run(type: (typeof callers)[number], i: number): Promise<Run> {
  const subject = await createSubject(stack, type);
  const run = await attack(subject, { baseUrl: stack.baseUrl, directory, seed: seed + i, maxExamples });
  if (run.failures > 0) console.log(run.output);
  console.log(`${run.name}: ${run.requests} requests, ${run.failures} failures, ${run.seconds.toFixed(0)} s`);
  return run;
}

function report(runs: readonly Run[]): void {
  const counts = Map.groupBy(
    runs.flatMap(({ accepted }) => accepted),
    (reason) => reason,
  );
  for (const [reason, { length }] of counts) console.log(`Accepted ${length} times: ${reason}`);
  for (const line of errors.slice(0, 50)) console.log(line.slice(0, 1000));
  const sum = (count: (run: Run) => number) => runs.reduce((total, run) => total + count(run), 0);
  const failures = sum((run) => run.failures);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const accepted = sum((run) => run.accepted.length);
  console.log(
    `fuzz: ${sum((run) => run.requests)} requests as ${runs.length} callers in ${seconds} s, ${failures} failures, ${accepted} deviations accepted`,
  );
  database.stop();
  process.exit(failures > 0 ? 1 : 0);
}
