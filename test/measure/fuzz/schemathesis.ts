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

export interface Run {
  name: string;
  /** The output of the program. */
  output: string;
  requests: number;
  failures: number;
  /** The reasons for accepted failures (accepted.py), one entry per failure. */
  accepted: string[];
  /** The duration in seconds. */
  seconds: number;
}

/**
 * Tests the API as one subject, in all phases and with all checks. Throws if the run was incomplete, independent of the findings.
 */
export async function attack(subject: Subject, options: RunOptions): Promise<Run> {
  const { baseUrl, directory, seed, maxExamples } = options;
  const started = performance.now();
  const file = (extension: string) => join(directory, `${subject.name}.${extension}`);
  writeFileSync(file('credentials.json'), JSON.stringify(credentialsOf(subject)));
  const { exitCode, output } = await execute(
    [
      ...['--config-file', here('schemathesis.toml'), 'run', `${baseUrl}/v1/openapi.json`, '--url', baseUrl],
      ...['--checks', 'all', '--seed', String(seed), '--max-examples', String(maxExamples), '--no-color'],
      ...['--report', 'json', '--report-json-path', file('report.json')],
    ],
    directory,
    {
      SCHEMATHESIS_HOOKS: here('hooks.py'),
      PYTHONDONTWRITEBYTECODE: '1',
      FUZZ_CREDENTIALS: file('credentials.json'),
      FUZZ_ACCEPTED_LOG: file('accepted.jsonl'),
      FUZZ_SEED: String(seed),
      FUZZ_OWN_KEY: subject.keyId,
      FUZZ_SPARE_KEY: subject.spareKeyId,
    },
  );
  if (!existsSync(file('report.json'))) throw new Error(`Schemathesis wrote no report:\n${output}`);
  const report: Report = JSON.parse(readFileSync(file('report.json'), 'utf8'));
  requireWholeRun(report, exitCode, output);
  return {
    name: subject.name,
    output,
    requests: report.test_cases.generated,
    failures: report.test_cases.unique_failures,
    accepted: readAccepted(file('accepted.jsonl')),
    seconds: (performance.now() - started) / 1000,
  };
}

interface Report {
  complete: boolean;
  operations: { selected: number; tested: number };
  phases: Record<string, { status: string | null }>;
  test_cases: { generated: number; unique_failures: number };
  errors: unknown[];
}

// A result without failures counts only for a complete run.
function requireWholeRun(
  { complete, operations, phases, test_cases, errors }: Report,
  exitCode: number,
  output: string,
) {
  const ran = Object.values(phases).every(({ status }) => status === 'success' || status === 'failure');
  const isExplained = exitCode === (test_cases.unique_failures > 0 ? 1 : 0);
  if (complete && ran && isExplained && errors.length === 0 && operations.tested === operations.selected) return;
  throw new Error(`Schemathesis stopped early with exit code ${exitCode}:\n${output}`);
}

/** The format of Web Fuzzing Commons. schemathesis.toml names the two users. */
function credentialsOf({ credential, otherCredential }: Subject) {
  const user = (name: string, value: string) => ({
    name,
    fixedHeaders: [{ name: 'Authorization', value: `Bearer ${value}` }],
  });
  return { auth: [user('own', credential), user('other', otherCredential)] };
}

function readAccepted(path: string): string[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line).reason);
}

function execute(args: string[], cwd: string, environment: Record<string, string>) {
  return new Promise<{ exitCode: number; output: string }>((resolve, reject) => {
    const options = {
      cwd,
      env: { ...process.env, ...environment },
      timeout: MAX_RUN_MS,
      killSignal: 'SIGKILL',
    } as const;
    const child = spawn(PROGRAM, args, options);
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
