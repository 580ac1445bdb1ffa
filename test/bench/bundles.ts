import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assetOf } from '../../infra/local/lambda/lambda.ts';
import { Template } from '../../infra/local/template.ts';
import { median } from './median.ts';

const RUNS = 7;

/** Size and import time of every function. Each import is a process of its own, as at a cold start. */
export async function measureBundles(assembly: string) {
  const empty = medianImportMs('data:text/javascript,');
  const places = { queuesUrl: 'http://127.0.0.1', tablePrefix: '', baseUrl: () => '' };
  const functions = new Template(assembly, places).ofType<FunctionProperties>('AWS::Lambda::Function');
  const paths = new Map(
    functions.map(({ properties: { Code, Environment } }) => {
      const path = join(assembly, assetOf({ Code }), 'index.cjs');
      return [Environment.Variables.POWERTOOLS_SERVICE_NAME, path];
    }),
  );
  return [...paths].map(([name, path]) => {
    const importMs = medianImportMs(pathToFileURL(path).href);
    const kilobytes = Math.round(statSync(path).size / 1024);
    return { function: name, kilobytes, import_ms: Math.round(importMs), ratio: Math.round(importMs / empty) };
  });
}

interface FunctionProperties {
  Code: { S3Key: string };
  Environment: { Variables: Record<string, string> };
}

const medianImportMs = (url: string): number => median(Array.from({ length: RUNS }, () => importTimeMs(url)));

function importTimeMs(url: string): number {
  const script = `const t=performance.now();await import(${JSON.stringify(url)});console.log('ms='+(performance.now()-t))`;
  const names = [
    'TABLE_NAME',
    'DELIVERIES_QUEUE_URL',
    'NEW_QUEUE_URL',
    'SLOW_QUEUE_URL',
    'LANE',
    'CHECKS_QUEUE_URL',
    'SCHEDULE_GROUP',
    'SCHEDULE_ROLE_ARN',
    'SCHEDULE_DLQ_ARN',
    'SENDER_EMAIL',
    'DASHBOARD_URL',
    'POWERTOOLS_SERVICE_NAME',
  ];
  const env = { ...process.env, AWS_REGION: 'us-east-1', ...Object.fromEntries(names.map((name) => [name, 'bench'])) };
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env,
  });
  const ms = Number(/ms=([\d.]+)/.exec(stdout)?.[1]);
  if (Number.isNaN(ms)) throw new Error(stderr);
  return ms;
}
