import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { MAX_QUEUE_DELAY_SECONDS } from '../lib/delivery/queue-retry.ts';
import { RETRY_DELAYS_SECONDS } from '../lib/delivery/retry-schedule.ts';
import { MAX_LEASE_SECONDS } from '../lib/documents/connections.ts';
import { Api } from './api.ts';
import { createApiFunctions } from './api-functions.ts';
import { BundledFunction } from './bundled-function.ts';
import { Connections } from './connections.ts';
import { DataTable } from './data.ts';
import { Delivery } from './delivery.ts';
import { createKey, grantKey } from './encryption.ts';
import { Observability } from './observability.ts';
import { Sender } from './sender.ts';
import { readSettings } from './settings.ts';
import { Stats } from './stats.ts';
import { addWarnings } from './warnings.ts';

/** The longest delay of a retry in a queue. Later retries use a schedule. */
const LONGEST_RETRY_DELAY = Duration.seconds(
  Math.max(...RETRY_DELAYS_SECONDS.filter((seconds) => seconds <= MAX_QUEUE_DELAY_SECONDS)),
);

/** The stack of the service. It composes the constructs, which declare the resources. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    // The CDK refers to a role in both DependsOn and GetAtt, which is harmless.
    this.templateOptions.metadata = { 'cfn-lint': { config: { ignore_checks: ['W3005'] } } };
    const settings = readSettings(this.node);
    addWarnings(this, settings);
    const encryptionKey = createKey(this, settings);
    const table = new DataTable(this, 'Data', settings, encryptionKey);

    const sender = new Sender(this, 'Sender', { table, settings });
    const { authorizer, ...functions } = createApiFunctions(this, { settings, table, sender });
    const api = new Api(this, 'Api', { settings, authorizer, functions });
    const { dashboardUrl } = api;
    const delivery = new Delivery(this, 'Delivery', { table, settings, sender, dashboardUrl, encryptionKey });
    delivery.grantEnqueue(functions.webhooks);
    const { lanes, deadLetters, failedSchedules, fanOut, fanOutMapping } = delivery;
    const connections = new Connections(this, 'Connections', { table, settings, deadLetters, encryptionKey });
    connections.grantSchedule(functions.documents);
    const stats = new Stats(this, 'Stats', { table, settings });
    const createProject = new BundledFunction(this, 'CreateProject', {
      name: 'create-project',
      description: 'Creates a project and its first admin key: {name, email}',
      settings,
      environment: { TABLE_NAME: table.name },
      timeout: Duration.seconds(20),
    });
    table.grant(createProject, { PROJECT: ['put'], KEY: ['put'], AUDIT: ['put'], VERSION: ['put'] });

    const fedByQueues = [...Object.values(lanes).map(({ deliver }) => deliver), connections.check];
    const all = [
      authorizer,
      ...Object.values(functions),
      createProject,
      sender.events,
      fanOut,
      stats.count,
      ...fedByQueues,
    ];
    for (const fn of all) grantKey(encryptionKey, fn);
    new Observability(this, 'Observability', {
      settings,
      functions: all,
      fedByQueues,
      restApi: api.restApi,
      accessLog: api.accessLog,
      table,
      fanOut,
      fanOutMapping,
      stats: stats.count,
      statsMapping: stats.mapping,
      queues: {
        Deliveries: { queue: lanes.quick.queue, longestDelay: LONGEST_RETRY_DELAY },
        NewDeliveries: { queue: lanes.new.queue, longestDelay: LONGEST_RETRY_DELAY },
        SlowDeliveries: { queue: lanes.slow.queue, longestDelay: LONGEST_RETRY_DELAY },
        Checks: { queue: connections.checks, longestDelay: Duration.seconds(MAX_LEASE_SECONDS) },
      },
      failures: { DeadLetters: deadLetters, FailedSchedules: failedSchedules },
    });

    new CfnOutput(this, 'BaseUrl', {
      value: api.baseUrl,
      description: '{base_url} of the API',
    });
    new CfnOutput(this, 'DashboardUrl', { value: dashboardUrl, description: 'Open it with an admin key' });
    new CfnOutput(this, 'CreateProjectFunction', {
      value: createProject.functionName,
      description: 'Invoke this function to create a project',
    });
    new CfnOutput(this, 'FanOutFunction', { value: fanOut.functionName, description: 'For npm run replay' });
    new CfnOutput(this, 'FailedEventsBucket', {
      value: delivery.failedEvents.bucket.bucketName,
      description: 'Events that the fan-out set aside. To replay them, run npm run replay -- events',
    });
    new CfnOutput(this, 'FailedSchedulesQueue', {
      value: failedSchedules.queueUrl,
      description: 'Retries that could not be queued. To send them, run npm run replay -- schedules',
    });
  }
}
