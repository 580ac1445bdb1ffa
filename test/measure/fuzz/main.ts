import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble } from '../../../infra/local/assembly.ts';
import { startDatabase } from '../../../infra/local/services/database.ts';
import { startStack } from '../../../infra/local/stack.ts';
import { attack } from './schemathesis.ts';
import { CALLER_TYPES, createSubject } from './subjects.ts';

// Runs Schemathesis against the local stack with every type of caller. FUZZ_SEED and FUZZ_EXAMPLES set the
// seed and the number of requests, and FUZZ_CALLERS selects types of callers. The same seed sends the same requests.
const seed = Number(process.env.FUZZ_SEED ?? 20_260_131);
const maxExamples = Number(process.env.FUZZ_EXAMPLES ?? 3);

const wanted: string[] = process.env.FUZZ_CALLERS?.split(',') ?? [...CALLER_TYPES];
const callers = CALLER_TYPES.filter((type) => wanted.includes(type));
if (callers.length < wanted.length) throw new Error(`FUZZ_CALLERS must contain only ${CALLER_TYPES}`);

const directory = mkdtempSync(join(tmpdir(), 'service-fuzz-'));
process.on('SIGINT', () => process.exit(130)).on('SIGTERM', () => process.exit(143));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const errors: string[] = [];
const database = await startDatabase();
const stack = await startStack({
  assembly: await assemble(),
  databaseEndpoint: database.endpoint,
  output: (id, text) => {
    for (const line of text.split('\n')) if (isError(line)) errors.push(`${id} ${line}`);
  },
});
console.log(`Fuzzing ${stack.baseUrl} with FUZZ_SEED=${seed} FUZZ_EXAMPLES=${maxExamples}`);

const failures = await Promise.all(callers.map(run));
for (const line of errors.slice(0, 50)) console.log(line.slice(0, 1000));
database.stop();
process.exit(errors.length > 0 || failures.some((count) => count > 0) ? 1 : 0);

/** Whether a function logged an error or crashed, for example in a consumer, which no response shows. */
function isError(line: string): boolean {
  // The authorizer throws the first one for 401. The second one is repeated, and a busy machine can cause it.
  if (/"errorMessage":"Unauthorized"|"name":"UnavailableError"/.test(line)) return false;
  return line.includes('"level":"ERROR"') || /^\w*Error\b/.test(line);
}

async function run(type: (typeof callers)[number], i: number): Promise<number> {
  const subject = await createSubject(stack, type);
  const { output, requests, failures } = await attack(subject, {
    ...{ baseUrl: stack.baseUrl, directory, maxExamples },
    seed: seed + i,
  });
  if (failures > 0) console.log(output);
  console.log(`${type}: ${requests} requests, ${failures} failures`);
  return failures;
}
