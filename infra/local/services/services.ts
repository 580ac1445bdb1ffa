import { REGION, Template } from '../template.ts';
import { dynamoDbProxy } from './dynamodb.ts';
import { Endpoints } from './endpoints.ts';
import { LocalIam } from './iam.ts';
import { createBuckets, s3Service } from './s3.ts';
import { LocalScheduler } from './scheduler.ts';
import { LocalSes } from './ses.ts';
import { Signal } from './signal.ts';
import type { LocalQueue } from './sqs.ts';
import { createQueues, sqsService } from './sqs-service.ts';
import { createState, type State } from './state.ts';
import { openTable } from './table.ts';

export interface ServicesOptions {
  /** The output directory of `cdk synth`. */
  assembly: string;
  /** The endpoint of the local database. */
  databaseEndpoint: string;
  /** How many times faster queue delays and schedules pass. */
  speed: number;
  /** How many times faster a failed message becomes visible again. */
  visibilitySpeed: number;
  now: () => number;
  /** The URL of the API on this machine. */
  baseUrl: string;
  /** The addresses and the port to listen on, and the host name for functions. */
  addresses?: readonly string[];
  port?: number;
  host?: string;
  /** The state of the services, which they keep up to date. */
  state?: State | undefined;
}

export type Services = Awaited<ReturnType<typeof startServices>>;

/**
 * Starts the AWS services of the template on this machine: the table, queues, schedules and email. They enforce the policies of
 * the roles.
 */
export async function startServices(options: ServicesOptions) {
  const { assembly, databaseEndpoint, speed, visibilitySpeed, now, baseUrl, addresses, port, host } = options;
  const endpoints = new Endpoints(host);
  await endpoints.listen(addresses, port);
  const { tablePrefix, messages, schedules, positions, emails } = options.state ?? createState();
  const template = new Template(assembly, {
    queuesUrl: endpoints.url('sqs'),
    bucketsUrl: endpoints.url('s3'),
    tablePrefix,
    baseUrl,
  });
  const table = await openTable(template, databaseEndpoint);
  const queues = createQueues(template, { speed, visibilitySpeed, kept: messages, now });
  const queueAt = (urlOrArn: string): LocalQueue | undefined => queues.get(urlOrArn.split(/[/:]/).at(-1) ?? '');
  const buckets = createBuckets(template);
  const iam = new LocalIam(template);
  const ses = new LocalSes(now, iam, emails);
  const scheduler = new LocalScheduler({ now, speed, iam, queueAt, kept: schedules });
  endpoints.add('sqs', sqsService(queues, iam));
  endpoints.add('s3', s3Service(buckets, iam));
  endpoints.add('scheduler', scheduler.service);
  endpoints.add('ses', ses.service);
  const writes = new Signal();
  endpoints.add('dynamodb', dynamoDbProxy({ endpoint: databaseEndpoint, iam, writes }));

  return {
    template,
    endpoints,
    iam,
    buckets,
    queues,
    queueAt,
    scheduler,
    ses,
    tableName: table.name,
    streamArn: table.streamArn,
    streamPositions: positions,
    /** Signals writes to the table by functions. */
    writes,
    /** Standard variables of the SDK. Only `ALLOW_PRIVATE_ENDPOINTS` is specific to the local stack. */
    environment: {
      AWS_REGION: REGION,
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: endpoints.url('dynamodb'),
      AWS_ENDPOINT_URL_SQS: endpoints.url('sqs'),
      AWS_ENDPOINT_URL_SCHEDULER: endpoints.url('scheduler'),
      AWS_ENDPOINT_URL_SES: endpoints.url('ses'),
      ALLOW_PRIVATE_ENDPOINTS: 'true',
    } as Record<string, string>,
    async stop() {
      scheduler.stop();
      for (const queue of queues.values()) queue.stop();
      await endpoints.close();
    },
  };
}
