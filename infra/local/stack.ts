import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway } from './gateway/api-gateway.ts';
import { LocalClock } from './lambda/clock.ts';
import type { MappingProperties } from './lambda/event-sources.ts';
import { DEFAULT_CONCURRENCY, type FunctionProperties, LocalFunction } from './lambda/lambda.ts';
import { mappingsOf, startMappings } from './lambda/mappings.ts';
import { LocalPages } from './local-pages.ts';
import { type Monitoring, NO_MONITORING } from './monitoring.ts';
import { listen } from './ports.ts';
import { emailEvents } from './services/email-events.ts';
import { type Services, startServices } from './services/services.ts';
import type { State } from './services/state.ts';

export interface StackOptions {
  /** The output directory of `cdk synth`. */
  assembly: string;
  /** The endpoint of the local database. */
  databaseEndpoint: string;
  /** The port, or 0 for any free port. */
  port?: number;
  /** How many times faster queue delays and schedules pass. */
  speed?: number;
  /** How many times faster a failed message becomes visible again. */
  visibilitySpeed?: number;
  /** The maximum number of execution environments per function (`DEFAULT_CONCURRENCY`). */
  concurrency?: number;
  /** The initial state of the services, empty by default. */
  state?: State | undefined;
  /** Watches the services. Without it, metrics, logs and alarms have no effect. */
  monitor?: (services: Services) => Monitoring;
  /** Receives what functions print. */
  output?: (functionId: string, text: string) => void;
}

export interface LocalStack extends Services {
  baseUrl: string;
  mailUrl: string;
  /** Authorizes `POST /_local/functions/NAME`, which invokes a function. */
  invokeToken: string;
  /** Returns a link that signs in to the dashboard once with an admin key. */
  signInUrl(key: string): string;
  clock: LocalClock;
  functions: ReadonlyMap<string, LocalFunction>;
  /** The event source mappings by id. Tests can change `Enabled`. */
  mappings: ReadonlyMap<string, MappingProperties>;
  /** Invokes the function whose id starts with `functionId`, like `aws lambda invoke`. */
  invoke(functionId: string, event: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** Runs a synthesized stack on this machine, with the same template and bundles as a deployment. */
export async function startStack(options: StackOptions): Promise<LocalStack> {
  const {
    assembly,
    databaseEndpoint,
    port = 0,
    speed = 1,
    visibilitySpeed = 1,
    concurrency = DEFAULT_CONCURRENCY,
  } = options;
  const clock = new LocalClock();
  const now = () => clock.now();
  const api = http.createServer({ maxHeaderSize: 64 * 1024 });
  const ready = Promise.withResolvers<http.RequestListener>();
  // Requests during the start wait, for example those of an open dashboard.
  api.on('request', async (request, response) => (await ready.promise)(request, response));
  await listen(api, port, '--port');
  const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const services = await startServices({
    assembly,
    databaseEndpoint,
    speed,
    visibilitySpeed,
    now,
    baseUrl,
    state: options.state,
  });
  const { template, ses } = services;
  const monitoring = options.monitor?.(services) ?? NO_MONITORING;
  const mappings = mappingsOf(services);
  const functions = createFunctions(services, clock, monitoring, options);
  const functionOf = (id: string): LocalFunction => {
    const fn = functions.get(id);
    if (!fn) throw new Error(`The template has no function ${id}`);
    return fn;
  };

  const stopMappings = await startMappings(mappings, {
    services,
    databaseEndpoint,
    functionOf,
    concurrency,
    retrySpeed: visibilitySpeed,
    speed,
    clock,
    monitoring,
  });

  const byArn = (arn: string) => functionOf(/function:(\w+)/.exec(arn)?.[1] ?? arn);
  // EventBridge invokes functions asynchronously and ignores their result.
  ses.publish = emailEvents(
    template,
    (arn, event) =>
      void byArn(arn)
        .invoke(event)
        .catch(() => {}),
  );
  const invoke = async (functionId: string, event: unknown): Promise<unknown> => {
    const fn = [...functions.values()].find(({ id }) => id.startsWith(functionId));
    if (!fn) throw new Error(`The template has no function ${functionId}`);
    return fn.invoke(event);
  };
  const pages = new LocalPages(baseUrl, () => ses.emails, invoke);
  const respond = createGateway(template, byArn, now, monitoring.request);
  ready.resolve((request, response) => {
    if (pages.has(request)) pages.respond(request, response).catch(() => response.destroy());
    else void respond(request, response);
  });

  return {
    ...services,
    baseUrl,
    mailUrl: pages.mailUrl,
    invokeToken: pages.invokeToken,
    signInUrl: (key) => pages.signInUrl(key),
    clock,
    functions,
    mappings,
    invoke,
    async stop() {
      stopMappings();
      api.closeAllConnections();
      await Promise.all([
        new Promise((resolve) => api.close(resolve)),
        ...[...functions.values()].map((fn) => fn.stop()),
      ]);
      await services.stop();
    },
  };
}

/** Creates the functions of the template. */
function createFunctions(
  { template, environment }: Services,
  clock: LocalClock,
  monitoring: Monitoring,
  options: StackOptions,
): Map<string, LocalFunction> {
  const shared = {
    clock,
    environment: { ...environment, TZ: 'UTC' },
    output: (id: string, text: string) => {
      monitoring.log(id, text);
      options.output?.(id, text);
    },
    publish: monitoring.put,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    spares: queueConsumersOf(template),
  };
  const resources = template.ofType<FunctionProperties>('AWS::Lambda::Function');
  return new Map(resources.map((resource) => [resource.id, new LocalFunction(resource, template, shared)]));
}

/** The functions whose batches can wait for a customer's endpoint. */
function queueConsumersOf(template: Services['template']): Set<string> {
  const mappings = template.ofType<MappingProperties & { FunctionName: string }>('AWS::Lambda::EventSourceMapping');
  const ofQueues = mappings.filter(({ properties }) => properties.EventSourceArn.includes(':sqs:'));
  return new Set(ofQueues.map(({ properties }) => properties.FunctionName));
}
