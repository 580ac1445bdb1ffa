import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Subject } from './subjects.ts';

/** The program in the version of requirements.txt. */
const PROGRAM = process.env.SCHEMATHESIS ?? 'schemathesis';
/** The time after which a run counts as hanging. */
const MAX_RUN_MS = 15 * 60_000;
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export interface RunOptions {
  baseUrl: string;
  /** The directory for reports, which are deleted later. */
  directory: string;
  seed: number;
  /** The requests per operation in the fuzzing phase, and the sequences in the stateful phase. */
  maxExamples: number;
}

/**
 * Tests the API as one subject, in all phases and with all checks. Returns the output of the program and the numbers of requests and
 * failures. Throws if the run was incomplete, independent of the failures.
 */
export async function attack(subject: Subject, { baseUrl, directory, seed, maxExamples }: RunOptions) {
  const file = (name: string) => join(directory, `${subject.name}.${name}.json`);
  writeFileSync(file('credentials'), JSON.stringify(credentialsOf(subject)));
  const { exitCode, output } = await execute(
    [
      ...['--config-file', here('schemathesis.toml'), 'run', `${baseUrl}/v1/openapi.json`, '--url', baseUrl],
      ...['--checks', 'all', '--seed', String(seed), '--max-examples', String(maxExamples), '--no-color'],
      ...['--report', 'json', '--report-json-path', file('report')],
    ],
    directory,
    {
      SCHEMATHESIS_HOOKS: here('hooks.py'),
      PYTHONDONTWRITEBYTECODE: '1',
      FUZZ_CREDENTIALS: file('credentials'),
      FUZZ_SEED: String(seed),
      FUZZ_OWN_KEY: subject.keyId,
      FUZZ_SPARE_KEY: subject.spareKeyId,
    },
  );
  const report: Report | undefined = existsSync(file('report')) && JSON.parse(readFileSync(file('report'), 'utf8'));
  if (!report || !isComplete(report, exitCode))
    throw new Error(`Schemathesis stopped early with exit code ${exitCode}:\n${output}`);
  return { output, requests: report.test_cases.generated, failures: report.test_cases.unique_failures };
}

interface Report {
  complete: boolean;
  operations: { selected: number; tested: number };
  phases: Record<string, { status: string | null }>;
  test_cases: { generated: number; unique_failures: number };
  errors: unknown[];
}

// A result without failures counts only for a complete run.
function isComplete({ complete, operations, phases, test_cases, errors }: Report, exitCode: number): boolean {
  const ran = Object.values(phases).every(({ status }) => status === 'success' || status === 'failure');
  const isExplained = exitCode === (test_cases.unique_failures > 0 ? 1 : 0);
  return complete && ran && isExplained && errors.length === 0 && operations.tested === operations.selected;
}

/** The format of Web Fuzzing Commons. schemathesis.toml names the two users. */
function credentialsOf({ credential, otherCredential }: Subject) {
  const user = (name: string, value: string) => ({
    name,
    fixedHeaders: [{ name: 'Authorization', value: `Bearer ${value}` }],
  });
  return { auth: [user('own', credential), user('other', otherCredential)] };
}

function execute(args: string[], cwd: string, environment: Record<string, string>) {
  return new Promise<{ exitCode: number; output: string }>((resolve, reject) => {
    const env = { ...process.env, ...environment };
    const child = spawn(PROGRAM, args, { cwd, env, timeout: MAX_RUN_MS, killSignal: 'SIGKILL' });
    const kill = () => void child.kill('SIGKILL');
    process.once('exit', kill);
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', () =>
      reject(new Error(`${PROGRAM} is not installed. Run: pip install -r test/measure/fuzz/requirements.txt`)),
    );
    child.on('close', (exitCode) => {
      process.off('exit', kill);
      resolve({ exitCode: exitCode ?? -1, output: Buffer.concat(chunks).toString() });
    });
  });
}
