import { App, type AppProps, CfnOutput, Stack } from 'aws-cdk-lib';
import recommended from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import type { Construct } from 'constructs';
import { DocumentSync } from './document-sync.ts';
import { type SettingsInput, settingsOf } from './settings.ts';

/** The feature flags of the CDK for an app with this stack. The context of the command line and of its files has priority. */
export const FLAGS = {
  ...recommended,
  '@aws-cdk/core:target-partitions': ['aws', 'aws-cn', 'aws-us-gov'],
  '@aws-cdk/core:annotationsInValidationReport': false,
};

/** Creates an app with the stack, without a settings file and its guard, for the local stack and tests. */
export function createApp({ settings, ...props }: AppProps & { settings?: SettingsInput } = {}): App {
  const app = new App({ ...props, context: { ...FLAGS, ...props.context } });
  new ServiceStack(app, settings);
  return app;
}

/** A stack with one service, and with the outputs that the commands read. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, given: SettingsInput = {}) {
    const { stackName, ...settings } = settingsOf(given);
    super(scope, 'DocumentSyncService', {
      stackName,
      // Without the stack, the API has another address, and messages and pending retries are lost, although the table remains.
      terminationProtection: settings.dataRetention === 'retain',
      description: 'Document Sync Service: authentication and webhooks for document synchronization',
    });
    // The CDK refers to a role in both DependsOn and GetAtt, which is harmless.
    this.templateOptions.metadata = { 'cfn-lint': { config: { ignore_checks: ['W3005'] } } };
    // The id `Default` is no part of the logical ids.
    const service = new DocumentSync(this, 'Default', settings);
    const { fanOut, failedEvents, queues, schedules } = service.delivery;
    const outputs: Record<string, [value: string | undefined, description: string]> = {
      BaseUrl: [service.baseUrl, '{base_url} of the API'],
      DashboardUrl: [service.dashboardUrl, 'Open it with an admin key'],
      CreateProjectFunction: [service.createProject.functionName, 'Invoke this function to create a project'],
      ProjectsFunction: [service.projects.functionName, 'For npm run ops -- projects'],
      DomainTarget: [service.domainTarget, 'The target for a CNAME record of the domain'],
      SourceAddresses: [service.sourceAddresses.join(',') || undefined, 'Deliveries come only from these addresses'],
      AlarmTopic: [service.alarmTopicArn, 'Sends alarms. Check that its subscription is confirmed'],
      FanOutFunction: [fanOut.functionName, 'For npm run ops -- replay and restore'],
      TableName: [service.table.name, 'For npm run ops -- restore'],
      DeliveriesQueue: [queues.quick.queueUrl, 'For npm run ops -- restore'],
      ChecksQueue: [service.connections.checks.queueUrl, 'For npm run ops -- restore'],
      FailedEventsBucket: [
        failedEvents.bucket.bucketName,
        'Events that the fan-out set aside. To replay them, run npm run ops -- replay events',
      ],
      FailedSchedulesQueue: [
        schedules.failures.queueUrl,
        'Retries that could not be queued. To send them, run npm run ops -- replay schedules',
      ],
    };
    for (const [name, [value, description]] of Object.entries(outputs))
      if (value) new CfnOutput(this, name, { value, description });
  }
}
