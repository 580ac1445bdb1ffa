import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { localDirectory } from '../project-root.ts';
import { requireFreePort } from './ports.ts';
import { CONTAINER_HOST, listenAddresses } from './sam/addresses.ts';
import { startSam } from './sam/start.ts';
import { StartError, startDatabase } from './services/database.ts';
import { synthesize } from './synthesize.ts';

const directory = join(localDirectory, 'sam');
/** The next port after those of `sam local start-api` and `start-lambda`. */
const DEFAULT_PORT = '3002';
const START_LAMBDA_URL = 'http://127.0.0.1:3001';

/** `npm run sam:services -- [--port 3002] [--pipeline]` starts the services that `sam local` lacks. */
async function main(): Promise<void> {
  const { port, pipeline } = readArguments();
  process.on('SIGINT', () => process.exit(0)).on('SIGTERM', () => process.exit(0));
  await requireFreePort(port, '--port');
  const architecture = process.arch === 'arm64' ? 'arm64' : 'x86_64'; // containers use the architecture of the machine
  const assembly = synthesize(directory, { architecture, 'aws:cdk:enable-asset-metadata': true });
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
}

function readArguments(): { port: number; pipeline: boolean } {
  try {
    const { values } = parseArgs({
      options: { port: { type: 'string', default: DEFAULT_PORT }, pipeline: { type: 'boolean', default: false } },
    });
    const port = Number(values.port);
    if (!(Number.isInteger(port) && port >= 1 && port <= 65535))
      throw new Error('--port must be an integer from 1 to 65535');
    return { port, pipeline: values.pipeline };
  } catch (error) {
    throw new StartError(`${(error as Error).message}. Usage: npm run sam:services -- [--port 3002] [--pipeline]`);
  }
}

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

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof StartError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
});
