import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../bundle.ts';
import { StartError, startDatabase } from './services/database.ts';
import { startServices } from './services/services.ts';
import { synthesize } from './synthesize.ts';

/** The name by which a container reaches its host. On Linux, `sam local` needs `--add-host` for it. */
const HOST = 'host.docker.internal';
const directory = join(projectRoot, '.local', 'sam');

/**
 * `npm run sam:services` starts the local AWS services for `sam local`, and writes a template that runs on this machine and
 * the values of its environment variables. `sam local` sets only variables that the template declares, so all of them are
 * declared here.
 */
async function main(): Promise<void> {
  process.on('SIGINT', () => process.exit(0)).on('SIGTERM', () => process.exit(0));
  const architecture = process.arch === 'arm64' ? 'arm64' : 'x86_64';
  const assembly = synthesize(directory, { architecture, 'aws:cdk:enable-asset-metadata': true });
  const { endpoint } = await startDatabase();
  const { template, environment, iam } = await startServices({
    assembly,
    databaseEndpoint: endpoint,
    speed: 1,
    visibilitySpeed: 1,
    now: () => Date.now(),
    baseUrl: () => 'http://127.0.0.1:3000',
    listen: '0.0.0.0',
    host: HOST,
  });

  iam.isPermissive = true;

  const { AWS_REGION: _, AWS_SECRET_ACCESS_KEY: __, ...endpoints } = environment; // reserved: sam sets these itself
  const functions = template.ofType<{ Environment: { Variables: Record<string, string> } }>('AWS::Lambda::Function');
  const variables = Object.fromEntries(
    functions.map(({ id, properties: { Environment } }) => [id, { ...Environment.Variables, ...endpoints }]),
  );
  const path = join(directory, 'DocumentSyncService.template.json');
  const raw = JSON.parse(readFileSync(path, 'utf8'));
  for (const [id, values] of Object.entries(variables)) {
    const declared = raw.Resources[id].Properties.Environment.Variables;
    for (const name of Object.keys(values)) declared[name] ??= '';
  }
  writeFileSync(path, JSON.stringify(raw, null, 1));
  writeFileSync(join(directory, 'env.json'), JSON.stringify(variables, null, 1));
  const common = `-t .local/sam/DocumentSyncService.template.json --env-vars .local/sam/env.json --add-host ${HOST}:host-gateway`;
  process.stdout.write(`\nThe services are running. In another terminal, set any credentials (AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local) and run:

  sam local invoke CreateProject ${common} -e test/events/create-project.json
  sam local start-api ${common}

Press Ctrl-C to stop them.\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof StartError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
});
