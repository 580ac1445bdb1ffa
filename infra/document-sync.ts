import { Annotations, Stack } from 'aws-cdk-lib';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { Api } from './api.ts';
import type { BundledFunction } from './bundled-function.ts';
import { Connections } from './connections.ts';
import { DataTable } from './data.ts';
import { Delivery } from './delivery.ts';
import { Egress } from './egress.ts';
import { encrypt } from './encryption.ts';
import { createFunctions } from './functions.ts';
import { Observability } from './observability.ts';
import { Sender } from './sender.ts';
import { DEFAULT_SENDER, type SettingsInput, settingsOf } from './settings.ts';
import { Stats } from './stats.ts';

/** The settings of infra/README.md. All are optional. The name of the service is the name of its stack. */
export type DocumentSyncProps = Omit<SettingsInput, 'stackName'>;

/**
 * The service, for a stack of your own. A stack can contain one, because it has about 380 of the at most 500 resources
 * (CloudFormation quotas). Throws an error that names every property with a value that is not allowed.
 */
export class DocumentSync extends Construct {
  /** `{base_url}` of the API. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The target for a DNS record of `domain`. */
  readonly domainTarget: string | undefined;
  /** The fixed IPv4 addresses of deliveries. Empty without `egress`. */
  readonly sourceAddresses: readonly string[];
  /** Creates a project and its first admin key: `{name, email}`. */
  readonly createProject: BundledFunction;
  /** The function behind `npm run ops -- projects`. */
  readonly projects: BundledFunction;
  /** The topic that sends alarms, if there is a receiver. */
  readonly alarmTopicArn: string | undefined;
  readonly table: DataTable;
  readonly delivery: Delivery;
  readonly connections: Connections;

  constructor(scope: Construct, id: string, props: DocumentSyncProps = {}) {
    super(scope, id);
    const settings = settingsOf({ ...props, stackName: Stack.of(this).stackName });
    if (settings.senderEmail === DEFAULT_SENDER) {
      const text = 'Set senderEmail to an address that SES has verified. To write deployment.json, run npm run init.';
      Annotations.of(this).addWarningV2('service:sender', text);
    }
    this.table = new DataTable(this, 'Data', settings);
    const egress = settings.egress && new Egress(this, 'Egress', settings.egress, this.table.arn);
    this.sourceAddresses = egress?.addresses ?? [];
    const { table, sourceAddresses } = this;
    const sender = new Sender(this, 'Sender', table, settings.senderEmail);
    const functions = createFunctions(this, { settings, table, sender, sourceAddresses });
    this.createProject = functions['create-project'];
    this.projects = functions.projects;
    const api = new Api(this, 'Api', { settings, functions });
    const { baseUrl } = api;
    this.baseUrl = baseUrl;
    this.domainTarget = api.domainTarget;
    this.dashboardUrl = api.dashboardUrl;
    this.delivery = new Delivery(this, 'Delivery', { settings, table, sender, baseUrl, egress });
    for (const fn of [functions.webhooks, functions.projects]) this.delivery.grantEnqueue(fn, 'quick');
    const { deadLetters } = this.delivery;
    this.connections = new Connections(this, 'Connections', { settings, table, deadLetters });
    this.connections.grantSchedule(functions.documents);
    const summaries = sender.addSummaries(deadLetters, baseUrl);
    const stats = new Stats(this, 'Stats', table);
    const { delivery, connections } = this;
    const watched = { table, api, delivery, connections, summaries, sender, stats };
    const { topic } = new Observability(this, 'Observability', { alarms: settings.alarms, ...watched });
    this.alarmTopicArn = topic?.topicArn;
    for (const part of this.node.findAll())
      if (part instanceof CfnLogGroup) part.retentionInDays = settings.logRetentionDays;
    if (settings.encryption === 'customer') encrypt(this);
  }
}
