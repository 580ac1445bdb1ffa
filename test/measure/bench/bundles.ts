import { spawnSync } from 'node:child_process';
import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { bundleOptions } from '../../../infra/bundle.ts';
import { type Bundle, bundlesOf } from '../../support/bundles.ts';
import { median } from './median.ts';

const RUNS = 15;

/** The least that a function with a table can import: the client of DynamoDB and one call. */
const REFERENCE = `
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
const client = new DynamoDBClient({});
export const handler = (id) => client.send(new GetItemCommand({ TableName: 'table', Key: { pk: { S: id } } }));
`;

/**
 * Size of every function, and the CPU of its import relative to the reference. Each import runs in a separate process, as in a cold
 * start. A round imports every bundle once, so the ratio of a round compares imports under the same load.
 */
export async function measureBundles(assembly: string) {
  const reference = { name: 'reference', path: bundledReference(), variables: {} };
  const bundles = [reference, ...bundlesOf(assembly)];
  const rounds = Array.from({ length: RUNS }, () => bundles.map(cpuMsOf));
  return bundles.map(({ name, path }, i) => {
    const inRounds = (value: (round: number[]) => number): number => median(rounds.map(value));
    return {
      function: name,
      kilobytes: Math.round(statSync(path).size / 1024),
      import_cpu_ms: Math.round(inRounds((round) => round[i] ?? Number.NaN)),
      ratio: Number(inRounds((round) => (round[i] ?? Number.NaN) / (round[0] ?? Number.NaN)).toFixed(2)),
    };
  });
}

function bundledReference(): string {
  const outfile = join(mkdtempSync(join(tmpdir(), 'bench-')), 'index.cjs');
  const { absWorkingDir: resolveDir } = bundleOptions;
  buildSync({ ...bundleOptions, stdin: { contents: REFERENCE, resolveDir }, outfile });
  return outfile;
}

function cpuMsOf({ path, variables }: Bundle): number {
  const script = `const start=process.cpuUsage();require(${JSON.stringify(path)});const {user,system}=process.cpuUsage(start);
console.log('us='+(user+system));process.exit()`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
    env: { ...process.env, AWS_REGION: 'us-east-1', ...variables },
  });
  const us = Number(/us=(\d+)/.exec(stdout)?.[1]);
  if (Number.isNaN(us)) throw new Error(stderr);
  return us / 1000;
}
