import { enableCompileCache } from 'node:module';
import { command, runCommand } from '../commands/command.ts';
import { integer } from '../commands/usage.ts';
import { compileCache } from '../project-root.ts';
import { requireFreePort } from './ports.ts';
import { CONTAINER_HOST } from './sam/addresses.ts';

const USAGE = {
  command: 'npx node infra/local/sam.ts',
  about: 'Starts the services that `sam local` lacks.',
  options: {
    port: { type: 'string', value: 'N', about: 'port of the services', default: '3002' },
    'api-port': { type: 'string', value: 'N', about: 'port of `sam local start-api`', default: '3000' },
    directory: {
      type: 'string',
      value: 'PATH',
      about: 'directory of the template and the code',
      default: '.local/sam',
    },
  },
} as const;

await runCommand(
  command(USAGE, async ({ values: { port: text, 'api-port': apiText, directory } }) => {
    const port = integer('port', text, 1, 65535);
    const apiPort = integer('api-port', apiText, 1, 65535);
    process.on('SIGINT', () => process.exit(0)).on('SIGTERM', () => process.exit(0));
    await requireFreePort(port, '--port');
    process.stdout.write('Starting…\n');
    enableCompileCache(compileCache); // for the modules below
    const { synthesize } = await import('./synthesize.ts');
    synthesize(directory, {}, { 'aws:cdk:enable-asset-metadata': true });
    const { startDatabase } = await import('./services/database.ts');
    const { startSam } = await import('./sam/start.ts');
    const { endpoint } = await startDatabase();
    const names = await startSam(directory, endpoint, { port, apiPort });
    process.stdout.write(`
The services are running. In another terminal:

  export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1
  SAM="-t ${directory}/template.json --env-vars ${directory}/env.json --add-host ${CONTAINER_HOST}:host-gateway"
  echo '{"name":"Acme","email":"ops@example.com"}' | sam local invoke CreateProject $SAM -e -
  sam local start-api $SAM --port ${apiPort} --warm-containers LAZY

  functions   ${names.join(', ')}
  emails      http://127.0.0.1:${port}/emails

Press Ctrl-C to stop the services. After that, restart running containers too.
`);
  }),
);
