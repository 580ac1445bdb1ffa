import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServices } from '../services/services.ts';
import { createState } from '../services/state.ts';
import { samTemplate } from './template.ts';

export interface SamOptions {
  /** The output directory of `cdk synth`. */
  assembly: string;
  /** The directory for the output. It must be the assembly, so that `sam local` finds the code. */
  directory: string;
  databaseEndpoint: string;
  addresses: readonly string[];
  /** The host name of the services for functions. */
  host: string;
  port: number;
  tablePrefix: string;
}

/** Starts the AWS services that `sam local` lacks. Then writes the template and the environment variables. */
export async function startSam(options: SamOptions) {
  const { assembly, directory, databaseEndpoint, addresses, host, port, tablePrefix } = options;
  for (const name of ['template.json', 'env.json']) rmSync(join(directory, name), { force: true });
  const services = await startServices({
    assembly,
    databaseEndpoint,
    speed: 1,
    visibilitySpeed: 1,
    now: () => Date.now(),
    baseUrl: 'http://127.0.0.1:3000', // `sam local start-api`
    addresses,
    port,
    host,
    state: createState(tablePrefix),
  });
  const { template, environment, endpoints, iam, ses } = services;
  iam.isPermissive = true;
  endpoints.add('emails', () => ({
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(ses.emails),
  }));
  const write = (name: string, value: object) =>
    writeFileSync(join(directory, name), `${JSON.stringify(value, null, 1)}\n`);
  const raw = JSON.parse(readFileSync(join(assembly, 'DocumentSyncService.template.json'), 'utf8'));
  const sam = samTemplate(raw, template, environment);
  write('env.json', sam.variables);
  write('template.json', sam.template);
  return { ...services, names: Object.keys(sam.variables) };
}
