import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSecret } from '../../../lib/webhooks/secrets.ts';
import { readDelivery } from '../../commands/received.ts';
import { LocalClock } from '../lambda/clock.ts';
import { mappingsOf, startMappings } from '../lambda/mappings.ts';
import { startServices } from '../services/services.ts';
import { createState } from '../services/state.ts';
import { startFunctions } from './functions.ts';
import { tableItems } from './items.ts';
import { containerFunction } from './pipeline.ts';
import { createSamples } from './samples.ts';
import { functionName, samTemplate } from './template.ts';

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
  /** The URL of `sam local start-lambda`, which then runs the functions with event sources. */
  startLambdaUrl?: string | undefined;
  /** Receives the requests to the endpoint of the sample webhook. */
  print(line: string): void;
}

/** The concurrent batches of a queue. Each needs a container. */
const CONCURRENCY = 2;

/**
 * Starts the AWS services that `sam local` lacks, and an endpoint for webhooks. Creates the resources of the samples, then writes
 * the samples, the environment variables and the template.
 */
export async function startSam(options: SamOptions) {
  const { assembly, directory, databaseEndpoint, addresses, host, port, tablePrefix, startLambdaUrl, print } = options;
  const path = (...names: string[]) => join(directory, ...names);
  for (const name of ['template.json', 'env.json', 'events']) rmSync(path(name), { recursive: true, force: true });
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
  const { template, environment, endpoints, iam, ses, tableName } = services;
  iam.isPermissive = true;

  const secret = generateSecret(randomBytes);
  endpoints.add('receiver', ({ headers, body }) => {
    const { verified, line } = readDelivery(secret, headers, body);
    print(line);
    return { status: verified ? 204 : 401, body: '' };
  });
  endpoints.add('emails', () => ({
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(ses.emails),
  }));

  const { invoke, stop } = startFunctions(services);
  const receiver = { url: endpoints.url('receiver'), secret };
  const items = tableItems(databaseEndpoint, tableName);
  const samples = await createSamples({ invoke, items, receiver, now: Date.now() }).finally(stop);

  const write = (name: string, value: object) => writeFileSync(path(name), `${JSON.stringify(value, null, 1)}\n`);
  const raw = JSON.parse(readFileSync(join(assembly, 'DocumentSyncService.template.json'), 'utf8'));
  const sam = samTemplate(raw, template, environment);
  mkdirSync(path('events'), { recursive: true });
  for (const [name, sample] of Object.entries(samples)) write(join('events', `${name}.json`), sample);
  write('env.json', sam.variables);
  write('template.json', sam.template);

  const functionOf = (id: string) => containerFunction(startLambdaUrl ?? '', functionName(id), id);
  const pipeline = { services, databaseEndpoint, functionOf, concurrency: CONCURRENCY, retrySpeed: 1, speed: 1 };
  const mappings = mappingsOf(services);
  const stopMappings = startLambdaUrl
    ? await startMappings(mappings, { ...pipeline, clock: new LocalClock() })
    : () => {};
  return {
    ...services,
    names: Object.keys(samples),
    async stop() {
      stopMappings();
      await services.stop();
    },
  };
}
