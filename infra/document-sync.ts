import { Duration, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { MAX_QUEUE_DELAY_SECONDS } from '../lib/deliveries/queue-retry.ts';
import { RETRY_DELAYS_SECONDS } from '../lib/deliveries/retry-schedule.ts';
import { MAX_LEASE_SECONDS } from '../lib/documents/connections.ts';
import { EMAIL_WINDOW_MS } from '../lib/projects/email-budget.ts';
import { Api } from './api.ts';
import { createApiFunctions } from './api-functions.ts';
import type { BundledFunction } from './bundled-function.ts';
import { Connections } from './connections.ts';
import { DataTable } from './data.ts';
import { Delivery } from './delivery.ts';
import { Egress } from './egress.ts';
import { createKey, grantKey } from './encryption.ts';
import { GradualDeployment } from './gradual-deployment.ts';
import { Observability } from './observability.ts';
import { createProjectAdministration, createProjectCreation } from './projects.ts';
import { Sender } from './sender.ts';
import { type Settings, settingsOf } from './settings.ts';
import { Stats } from './stats.ts';
import { Summaries } from './summaries.ts';
import { addWarnings } from './warnings.ts';

/** The parameters of infra/README.md. All are optional. The name of the service is the name of its stack. */
export type DocumentSyncProps = Partial<Omit<Settings, 'stackName'>>;

/** The longest delay of a retry in a queue. Later retries use a schedule. */
const LONGEST_RETRY_DELAY = Duration.seconds(
  Math.max(...RETRY_DELAYS_SECONDS.filter((seconds) => seconds <= MAX_QUEUE_DELAY_SECONDS)),
);

/**
 * The service, for a stack of your own. A stack can contain one, because it has about 380 of the at most 500 resources
 * (CloudFormation quotas). Throws an error that names a property with a value that is not allowed.
 */
export class DocumentSync extends Construct {
  /** `{base_url}` of the API. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The target for a CNAME record of `domainName`, without a hosted zone. */
  readonly domainTarget: string | undefined;
  /** The fixed IPv4 addresses of deliveries. Empty without `egress: 'nat'`. */
  readonly sourceAddresses: readonly string[];
  /** Creates a project and its first admin key: `{name, email}`. */
  readonly createProject: BundledFunction;
  /** The function behind `npm run projects`. */
  readonly projects: BundledFunction;
  /** The topic that emails alarms to `alarmEmail`, if it is set. */
  readonly alarmTopicArn: string | undefined;
  readonly table: DataTable;
  readonly delivery: Delivery;

  constructor(scope: Construct, id: string, props: DocumentSyncProps = {}) {
    super(scope, id);
    const settings = settingsOf({ ...props, stackName: Stack.of(this).stackName });
    addWarnings(this, settings);
    const encryptionKey = createKey(this, settings);
    this.table = new DataTable(this, 'Data', settings, encryptionKey);
    const { table } = this;

    const egress = settings.egress === 'nat' ? new Egress(this, 'Egress') : undefined;
    this.sourceAddresses = egress?.addresses ?? [];
    const sender = new Sender(this, 'Sender', { table, settings });
    const { authorizer, ...functions } = createApiFunctions(this, { settings, table, sender, egress });
    const gradual = settings.gradualDeployment === 'on' ? new GradualDeployment(this, 'Gradual') : undefined;
    const api = new Api(this, 'Api', {
      settings,
      authorizer: gradual?.aliasOf(authorizer) ?? authorizer,
      functions: gradual?.aliasesOf(functions) ?? functions,
    });
    const { dashboardUrl } = api;
    this.baseUrl = api.baseUrl;
    this.domainTarget = api.domainTarget;
    this.dashboardUrl = dashboardUrl;
    this.delivery = new Delivery(this, 'Delivery', {
      table,
      settings,
      sender,
      dashboardUrl,
      egress,
      encryptionKey,
    });
    this.delivery.grantEnqueue(functions.webhooks);
    const { lanes, deadLetters, failedSchedules, fanOut, fanOutMapping } = this.delivery;
    const connections = new Connections(this, 'Connections', { table, settings, deadLetters, encryptionKey });
    connections.grantSchedule(functions.documents);
    const delivering = Object.values(lanes).map(({ deliver }) => deliver);
    const summaries = new Summaries(this, 'Summaries', {
      events: sender.events,
      senders: [functions.keys, functions.project, ...delivering],
      dashboardUrl,
      deadLetters,
      encryptionKey,
    });
    const stats = new Stats(this, 'Stats', { table, settings });
    this.createProject = createProjectCreation(this, { table, settings });
    this.projects = createProjectAdministration(this, { table, settings });
    this.delivery.grantEnqueue(this.projects);

    const fedByQueues = [...delivering, connections.check, sender.events];
    const all = [
      authorizer,
      ...Object.values(functions),
      this.createProject,
      this.projects,
      fanOut,
      stats.count,
      ...fedByQueues,
    ];
    for (const fn of all) grantKey(encryptionKey, fn);
    const { serverErrors, topic } = new Observability(this, 'Observability', {
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
        Summaries: { queue: summaries.queue, longestDelay: Duration.millis(EMAIL_WINDOW_MS) },
      },
      failures: { DeadLetters: deadLetters, FailedSchedules: failedSchedules },
    });
    this.alarmTopicArn = topic?.topicArn;
    gradual?.rollBackOn(serverErrors);
  }
}
