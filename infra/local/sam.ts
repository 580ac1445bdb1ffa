import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { command, integer, runCommand } from '../commands/command.ts';
import { compileCache, localDirectory } from '../project-root.ts';
import { requireFreePort } from './ports.ts';
import { CONTAINER_HOST, listenAddresses } from './sam/addresses.ts';

const directory = join(localDirectory, 'sam');
/** The next port after those of `sam local start-api` and `start-lambda`. */
const DEFAULT_PORT = '3002';
const START_LAMBDA_URL = 'http://127.0.0.1:3001';

const USAGE = {
  command: 'npm run sam:services',
  about: 'Starts the services that `sam local` lacks.',
  options: {
    port: { type: 'string', value: 'N', about: 'port of the services', default: DEFAULT_PORT },
    pipeline: {
      type: 'boolean',
      default: false,
      about: 'invoke the functions of `sam local start-lambda` with messages and records',
    },
  },
} as const;

await runCommand(
  command(USAGE, async ({ values: { port: text, pipeline } }) => {
    const port = integer('port', text, 1, 65535);
    process.on('SIGINT', () => process.exit(0)).on('SIGTERM', () => process.exit(0));
    await requireFreePort(port, '--port');
    enableCompileCache(compileCache); // for the modules below
    const { synthesize } = await import('./synthesize.ts');
    const assembly = synthesize(directory, {}, { 'aws:cdk:enable-asset-metadata': true });
    const { startDatabase } = await import('./services/database.ts');
    const { startSam } = await import('./sam/start.ts');
    const { endpoint } = await startDatabase();
    const { names } = await startSam({
      assembly,
      directory,
      databaseEndpoint: endpoint,
      addresses: listenAddresses(),
      host: CONTAINER_HOST,
      port,
      tablePrefix: 'sam-',
      startLambdaUrl: pipeline ? START_LAMBDA_URL : undefined,
      print: (line) => process.stdout.write(`\n[receiver] ${line}\n`),
    });
    process.stdout.write(welcome(names, port, pipeline));
  }),
);

function welcome(names: readonly string[], port: number, pipeline: boolean): string {
  const start = pipeline ? 'sam local start-lambda' : 'sam local start-api';
  return `
The services are running. In another terminal:

  export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1
  SAM="-t .local/sam/template.json --env-vars .local/sam/env.json --add-host ${CONTAINER_HOST}:host-gateway"
  sam local invoke DeliveryDeliver $SAM -e .local/sam/events/DeliveryDeliver.json
  ${start} $SAM --warm-containers LAZY

  functions   ${names.join(', ')}
  emails      http://127.0.0.1:${port}/emails
  endpoint    http://${CONTAINER_HOST}:${port}/receiver, an endpoint for webhooks that prints requests here

Press Ctrl-C to stop the services. After that, restart running containers too.
`;
}
