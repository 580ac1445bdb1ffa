import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type FunctionProperties, modulePathOf } from '../../../infra/local/lambda/lambda.ts';
import { Template } from '../../../infra/local/template.ts';
import { median } from './median.ts';

const RUNS = 7;

/** Size and import time of every function. Each import runs in a separate process, as in a cold start. */
export async function measureBundles(assembly: string) {
  const empty = medianImportMs('data:text/javascript,', {});
  const places = { queuesUrl: 'http://127.0.0.1', tablePrefix: '', baseUrl: '' };
  const template = new Template(assembly, places);
  const functions = new Map(
    template.ofType<FunctionProperties>('AWS::Lambda::Function').map(({ properties }) => {
      const variables = properties.Environment?.Variables ?? {};
      return [variables.POWERTOOLS_SERVICE_NAME, { path: modulePathOf(template, properties), variables }];
    }),
  );
  return [...functions].map(([name, { path, variables }]) => {
    const importMs = medianImportMs(pathToFileURL(path).href, variables);
    const kilobytes = Math.round(statSync(path).size / 1024);
    return { function: name, kilobytes, import_ms: Math.round(importMs), ratio: Math.round(importMs / empty) };
  });
}

const medianImportMs = (url: string, variables: Record<string, string>): number =>
  median(Array.from({ length: RUNS }, () => importTimeMs(url, variables)));

function importTimeMs(url: string, variables: Record<string, string>): number {
  const script = `const t=performance.now();await import(${JSON.stringify(url)});console.log('ms='+(performance.now()-t))`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env: { ...process.env, AWS_REGION: 'us-east-1', ...variables },
  });
  const ms = Number(/ms=([\d.]+)/.exec(stdout)?.[1]);
  if (Number.isNaN(ms)) throw new Error(stderr);
  return ms;
}
