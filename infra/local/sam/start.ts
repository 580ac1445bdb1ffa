import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServices } from '../services/services.ts';
import { createState } from '../services/state.ts';
import { CONTAINER_HOST, listenAddresses } from './addresses.ts';
import { samTemplate } from './template.ts';

/**
 * Starts the AWS services that `sam local` lacks. Then writes the template and the environment variables into the output directory
 * of `cdk synth`, in which `sam local` finds the code. Returns the names of the functions.
 */
export async function startSam(
  directory: string,
  databaseEndpoint: string,
  { port, apiPort }: { port: number; apiPort: number },
): Promise<string[]> {
  for (const name of ['template.json', 'env.json']) rmSync(join(directory, name), { force: true });
  const { template, environment, endpoints, iam, ses } = await startServices({
    assembly: directory,
    databaseEndpoint,
    speed: 1,
    visibilitySpeed: 1,
    now: () => Date.now(),
    baseUrl: `http://127.0.0.1:${apiPort}`, // `sam local start-api`
    addresses: listenAddresses(),
    port,
    host: CONTAINER_HOST,
    state: createState('sam-'),
  });
  iam.isPermissive = true;
  endpoints.add('emails', () => ({
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(ses.emails),
  }));
  const write = (name: string, value: object) =>
    writeFileSync(join(directory, name), `${JSON.stringify(value, null, 1)}\n`);
  const raw = JSON.parse(readFileSync(join(directory, 'DocumentSyncService.template.json'), 'utf8'));
  const sam = samTemplate(raw, template, environment);
  write('env.json', sam.variables);
  write('template.json', sam.template);
  return Object.keys(sam.variables);
}
