import { Stack } from 'aws-cdk-lib';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import * as ses from 'aws-cdk-lib/aws-ses';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { BundledFunction } from './bundled-function.ts';
import type { DataTable } from './data.ts';
import { consumeQueue, createQueue, grantSend } from './queues.ts';

/** The sender of emails, and the function that stops emails to addresses that SES reports. */
export class Sender extends Construct {
  readonly events: BundledFunction;
  /** The functions that send emails. They leave some of them to a summary. */
  private readonly functions: BundledFunction[] = [];
  private readonly configurationSet: ses.ConfigurationSet;
  private readonly address: string;

  /** The address is that of the sender. */
  constructor(scope: Construct, id: string, table: DataTable, address: string) {
    super(scope, id);
    this.address = address;
    this.configurationSet = new ses.ConfigurationSet(this, 'ConfigurationSet', {
      suppressionReasons: ses.SuppressionReasons.BOUNCES_AND_COMPLAINTS,
      tlsPolicy: ses.ConfigurationSetTlsPolicy.REQUIRE,
    });
    // SES supports only the default bus, and delivers its events to it at best effort (EventBridge Events Reference).
    this.configurationSet.addEventDestination('Reports', {
      destination: ses.EventDestination.eventBus(EventBus.fromEventBusName(this, 'DefaultBus', 'default')),
      events: [ses.EmailSendingEvent.BOUNCE, ses.EmailSendingEvent.COMPLAINT],
    });
    this.events = new BundledFunction(this, 'EmailEvents', {
      name: 'email-events',
      description: 'Stops emails to addresses that bounce or complain, and sends summaries',
      feedsItself: true, // each message about a summary leads to at most one, and the chain ends with the summary
    });
    table.grant(this.events, { PROJECT: ['get', 'update'], EMAILS: ['get', 'put'] });
    this.grant(this.events);
    new Rule(this, 'Rule', {
      description: 'Bounces and complaints of the emails of this service',
      eventPattern: {
        source: ['aws.ses'],
        detail: {
          eventType: ['Bounce', 'Complaint'],
          mail: { tags: { 'ses:configuration-set': [this.configurationSet.configurationSetName] } },
        },
      },
      // Lambda drops an event after three failed attempts. The next email to the address causes the same event.
      targets: [new LambdaFunction(this.events)],
    });
  }

  /**
   * Allows a function to send email from the sender. SES also authorizes the verified identity (the address or one of its domains)
   * and in the sandbox the recipient (SES Developer Guide, "Controlling access to Amazon SES").
   */
  grant(fn: BundledFunction): void {
    this.functions.push(fn);
    fn.addEnvironment('SENDER_EMAIL', this.address);
    fn.addEnvironment('CONFIGURATION_SET', this.configurationSet.configurationSetName);
    const stack = Stack.of(this);
    const arn = (resource: string, resourceName: string) => stack.formatArn({ service: 'ses', resource, resourceName });
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['ses:SendEmail'],
        resources: [arn('identity', '*'), arn('configuration-set', this.configurationSet.configurationSetName)],
        conditions: { StringEquals: { 'ses:FromAddress': this.address } },
      }),
    );
  }

  /**
   * Adds summaries of the emails that exceed the limit of a project. Delayed messages check whether a summary is due. Call it after
   * the last `grant`, because every function that sends emails can start a summary.
   */
  addSummaries(deadLetters: Queue, baseUrl: string): Queue {
    const queue = createQueue(this, 'Summaries', deadLetters);
    consumeQueue(queue, this.events, { maxConcurrency: 2 });
    this.events.addEnvironment('BASE_URL', baseUrl);
    this.events.addEnvironment('DASHBOARD_URL', `${baseUrl}/dashboard`); // only the previous release reads it
    for (const fn of this.functions) grantSend(queue, fn, 'SUMMARIES_QUEUE_URL');
    return queue;
  }
}
