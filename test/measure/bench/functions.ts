import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type FunctionProperties, modulePathOf } from '../../../infra/local/lambda/lambda.ts';
import type { LocalStack } from '../../../infra/local/stack.ts';
import type { Call, Calls } from './calls.ts';
import { startEndpoint } from './endpoint-process.ts';
import { createProject } from './project.ts';
import { startBench } from './stack.ts';

/** The CPU milliseconds of each call. */
type Times = Readonly<Record<Call, number>>;

/** The minimal work that a call is compared with. */
const COMPARED: Partial<Record<string, Call>> = {
  'authorizer, key': 'one read by the SDK',
  'authorizer, token': 'one read by the SDK',
  'bare client, and a write by the SDK': 'bare client',
  'deliver, in batches of 10': 'bare client, and a write by the SDK',
};

/**
 * Measures the CPU time of an authorization relative to one read with the SDK, and of a delivery in a batch of ten relative to a
 * bare POST and one write. Calls the deployed bundles sequentially in a separate process.
 */
export async function measureFunctions(assembly: string) {
  const { stack, databaseEndpoint, stop } = await startBench(assembly);
  const endpoint = await startEndpoint();
  const { id: projectId, adminKey, post } = await createProject(stack);
  const { token = '' } = await post('/v1/tokens', { documents: ['org:acme:*'], permissions: ['read'], ttl: 3600 });
  const { id: webhookId = '' } = await post('/v1/webhooks', { url: endpoint.url, events: ['document.changed'] });
  const authorizer = functionOf(stack, { POWERTOOLS_SERVICE_NAME: 'authorizer' });
  // The function of the lane for new endpoints.
  const deliver = functionOf(stack, { POWERTOOLS_SERVICE_NAME: 'deliver', LANE: 'new' });
  const calls: Calls = {
    authorizer: authorizer.path,
    deliver: deliver.path,
    ...{ key: adminKey, token, projectId, webhookId, url: endpoint.url },
  };
  const child = fork(new URL('./calls.ts', import.meta.url), {
    env: {
      ...process.env,
      ...authorizer.variables,
      ...deliver.variables,
      AWS_ENDPOINT_URL: databaseEndpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      ALLOW_PRIVATE_ENDPOINTS: 'true',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.send(calls);
  const ended = once(child, 'exit').then(() => {
    throw new Error('The function ended too early');
  });
  const [times] = (await Promise.race([once(child, 'message'), ended])) as [Times];
  endpoint.stop();
  await stop();
  return Object.fromEntries(
    Object.entries(times).map(([name, ms]) => {
      const of = COMPARED[name] ?? name;
      return [name, { cpu_ms_each: round(ms), ratio: round(ms / times[of as Call]), of }];
    }),
  );
}

const round = (value: number): number => Number(value.toPrecision(3));

/** Returns the function with these variables. */
function functionOf({ template }: LocalStack, wanted: Record<string, string>) {
  for (const { properties } of template.ofType<FunctionProperties>('AWS::Lambda::Function')) {
    const variables = properties.Environment?.Variables ?? {};
    if (Object.entries(wanted).every(([name, value]) => variables[name] === value))
      return { path: modulePathOf(template, properties), variables };
  }
  throw new Error('The template has no such function');
}
