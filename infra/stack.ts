import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { DocumentSync } from './document-sync.ts';
import { readSettings } from './settings.ts';

/** A stack with one service, whose settings are context parameters, and with the outputs that the commands read. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    // The CDK refers to a role in both DependsOn and GetAtt, which is harmless.
    this.templateOptions.metadata = { 'cfn-lint': { config: { ignore_checks: ['W3005'] } } };
    // The id `Default` is no part of the logical ids.
    const service = new DocumentSync(this, 'Default', readSettings(this.node));
    const { fanOut, failedEvents, failedSchedules } = service.delivery;
    const outputs: Record<string, [value: string, description: string]> = {
      BaseUrl: [service.baseUrl, '{base_url} of the API'],
      DashboardUrl: [service.dashboardUrl, 'Open it with an admin key'],
      CreateProjectFunction: [service.createProject.functionName, 'Invoke this function to create a project'],
      ProjectsFunction: [service.projects.functionName, 'For npm run projects'],
      ...(service.domainTarget && {
        DomainTarget: [service.domainTarget, 'The target for a CNAME record of the domain'],
      }),
      ...(service.sourceAddresses.length > 0 && {
        SourceAddresses: [service.sourceAddresses.join(','), 'Deliveries come only from these addresses'],
      }),
      ...(service.alarmTopicArn && {
        AlarmTopic: [service.alarmTopicArn, 'Emails alarms. Check that its subscription is confirmed'],
      }),
      FanOutFunction: [fanOut.functionName, 'For npm run replay'],
      FailedEventsBucket: [
        failedEvents.bucket.bucketName,
        'Events that the fan-out set aside. To replay them, run npm run replay -- events',
      ],
      FailedSchedulesQueue: [
        failedSchedules.queueUrl,
        'Retries that could not be queued. To send them, run npm run replay -- schedules',
      ],
    };
    for (const [name, [value, description]] of Object.entries(outputs))
      new CfnOutput(this, name, { value, description });
  }
}
