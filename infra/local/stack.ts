import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway } from './api-gateway.ts';
import { LocalClock } from './clock.ts';
import { createTables, dynamoDbProxy, StartError } from './dynamodb.ts';
import { Endpoints } from './endpoints.ts';
import { type MappingProperties, pollQueue, streamConsumer } from './event-sources.ts';
import { LocalIam } from './iam.ts';
import { LocalFunction } from './lambda.ts';
import { LocalScheduler } from './scheduler.ts';
import { LocalSes } from './ses.ts';
import type { LocalQueue } from './sqs.ts';
import { createQueues, sqsService } from './sqs-service.ts';
import { StreamPoller } from './stream.ts';
import { REGION, Template } from './template.ts';

export interface StackOptions {
  /** A directory that `cdk synth` made. */
  assembly: string;
  /** Of DynamoDB Local. */
  dynamoDbEndpoint: string;
  /** 0: any free port. */
  port?: number;
  /** How many times faster queue delays and schedules pass. */
  speed?: number;
  /** How many times faster a failed message comes again. */
  visibilitySpeed?: number;
  /** Execution environments per function. */
  concurrency?: number;
  /** Added to the environment of every function. */
  environment?: Record<string, string>;
  /** Receives what functions print. */
  output?: (functionId: string, text: string) => void;
}

export interface LocalStack {
  baseUrl: string;
  mailUrl: string;
  clock: LocalClock;
  ses: LocalSes;
  scheduler: LocalScheduler;
  endpoints: Endpoints;
  iam: LocalIam;
  queues: ReadonlyMap<string, LocalQueue>;
  functions: ReadonlyMap<string, LocalFunction>;
  /** Invokes the function whose id begins so, as `aws lambda invoke` does. */
  invoke(functionId: string, event: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** Runs a synthesized stack on this machine: the very template and bundles that are deployed. */
export async function startStack(options: StackOptions): Promise<LocalStack> {
  const {
    assembly,
    dynamoDbEndpoint,
    port = 0,
    speed = 1,
    visibilitySpeed = 1,
    concurrency = 4,
    output = () => {},
  } = options;
  const clock = new LocalClock();
  const endpoints = new Endpoints();
  await endpoints.listen();
  const api = http.createServer({ maxHeaderSize: 64 * 1024 });
  const baseUrl = () => `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  await listen(api, port);

  const template = new Template(assembly, {
    queuesUrl: endpoints.url('sqs'),
    tablePrefix: `local-${randomUUID().slice(0, 8)}-`,
    baseUrl,
  });
  const [table] = await createTables(template, dynamoDbEndpoint);
  const queues = createQueues(template, speed, visibilitySpeed);
  const queueAt = (urlOrArn: string) => queues.get(urlOrArn.split(/[/:]/).at(-1) ?? '');
  const iam = new LocalIam(template);
  const ses = new LocalSes(() => clock.now(), iam);
  const scheduler = new LocalScheduler({
    groups: template.ofType('AWS::Scheduler::ScheduleGroup').map(({ id }) => id),
    now: () => clock.now(),
    speed,
    iam,
    queueAt,
  });
  endpoints.add(
    'sqs',
    sqsService((name) => queues.get(name), iam),
  );
  endpoints.add('scheduler', scheduler.service);
  endpoints.add('ses', ses.service);
  endpoints.add('dynamodb', dynamoDbProxy(dynamoDbEndpoint, iam));

  const functions = createFunctions(template, {
    clock,
    environment: { ...functionEnvironment(endpoints), ...options.environment },
    output,
    concurrency,
    iam,
    logGroupArn: (name) => template.arn(name),
  });
  const functionOf = (arn: string): LocalFunction => {
    const found = functions.get(/function:(\w+)/.exec(arn)?.[1] ?? '');
    if (!found) throw new Error(`The template has no function ${arn}`);
    return found;
  };

  const stops: (() => void)[] = [];
  for (const { properties } of template.ofType<MappingProperties>('AWS::Lambda::EventSourceMapping')) {
    const fn = functionOf(`function:${properties.FunctionName}`);
    const queue = queueAt(properties.EventSourceArn);
    if (queue) {
      stops.push(pollQueue(queue, fn, properties, concurrency, iam));
    } else {
      const failures = queueAt(properties.DestinationConfig?.OnFailure.Destination ?? '');
      const poller = new StreamPoller(
        dynamoDbEndpoint,
        table?.streamArn ?? '',
        streamConsumer(fn, properties, failures, iam, visibilitySpeed),
      );
      await poller.start();
      stops.push(() => poller.stop());
    }
  }

  const gateway = createGateway(template, functionOf, () => clock.now());
  api.on('request', (request, response) => {
    if (request.url === MAIL_PATH) {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(ses.mails));
    } else void gateway.handle(request, response);
  });

  return {
    baseUrl: baseUrl(),
    mailUrl: `${baseUrl()}${MAIL_PATH}`,
    clock,
    ses,
    scheduler,
    endpoints,
    iam,
    queues,
    functions,
    invoke(functionId, event) {
      const fn = [...functions.values()].find(({ id }) => id.startsWith(functionId));
      if (!fn) throw new Error(`The template has no function ${functionId}`);
      return fn.invoke(event);
    },
    async stop() {
      for (const stop of stops) stop();
      scheduler.stop();
      for (const queue of queues.values()) queue.stop();
      api.closeAllConnections();
      await Promise.all([
        new Promise((resolve) => api.close(resolve)),
        ...[...functions.values()].map((fn) => fn.stop()),
      ]);
      await endpoints.close();
    },
  };
}

/** Of this machine only; the deployed API has no such path. */
const MAIL_PATH = '/_local/mail';

/** Says so at once, before anything is started, if a port is taken. */
export async function requireFreePort(port: number): Promise<void> {
  const probe = http.createServer();
  await listen(probe, port);
  await new Promise((resolve) => probe.close(resolve));
}

function listen(server: http.Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(
        taken
          ? new StartError(`Port ${port} is taken: stop what listens there, or pass another one with --port.`)
          : error,
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

function createFunctions(
  template: Template,
  options: ConstructorParameters<typeof LocalFunction>[2],
): Map<string, LocalFunction> {
  const resources =
    template.ofType<ConstructorParameters<typeof LocalFunction>[0]['properties']>('AWS::Lambda::Function');
  return new Map(resources.map((resource) => [resource.id, new LocalFunction(resource, template, options)]));
}

/** The SDK's own variables: no function knows that it runs here, but for `TARGETS`. */
function functionEnvironment(endpoints: Endpoints): Record<string, string> {
  return {
    AWS_REGION: REGION,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.url('dynamodb'),
    AWS_ENDPOINT_URL_SQS: endpoints.url('sqs'),
    AWS_ENDPOINT_URL_SCHEDULER: endpoints.url('scheduler'),
    AWS_ENDPOINT_URL_SES: endpoints.url('ses'),
    TARGETS: 'any',
    TZ: 'UTC',
  };
}
