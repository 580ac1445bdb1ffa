import { Aws, Duration, Stack, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import { FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { LANES, type Lane } from '../lib/delivery/lanes.ts';
import type { Variable } from '../lib/deployment.ts';
import { LANE_QUEUES } from '../lib/deployment.ts';
import { BundledFunction, consumeQueue } from './bundled-function.ts';
import { grantKey, grantTable } from './data.ts';
import { createQueue } from './queues.ts';
import type { Settings } from './settings.ts';

export interface DeliveryProps {
  table: Table;
  settings: Settings;
  dashboardUrl: string;
  encryptionKey: Key | undefined;
}

/** From a new event to its webhooks: fan-out, queue, schedules, deliver, and the queues for what we could not do. */
export class Delivery extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly fanOutFailures: Queue;
  readonly fanOut: BundledFunction;
  /** Of each lane: its queue, and the function that delivers from it. */
  readonly lanes: Record<Lane, { queue: Queue; deliver: BundledFunction }>;

  constructor(scope: Construct, id: string, { table, settings, dashboardUrl, encryptionKey }: DeliveryProps) {
    super(scope, id);
    this.deadLetters = createQueue(this, 'DeadLetters', { encryptionKey });
    this.fanOutFailures = createQueue(this, 'FanOutFailures', { encryptionKey });
    Validations.of(this.fanOutFailures).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is a dead-letter queue itself, of a stream',
    });
    const { deadLetters } = this;
    const laneQueue = (id: string) => createQueue(this, id, { encryptionKey, deadLetters });
    this.queue = laneQueue('Queue');
    const queues = { quick: this.queue, new: laneQueue('NewQueue'), slow: laneQueue('SlowQueue') };
    const laneVariables = Object.fromEntries(
      LANES.map((lane) => [LANE_QUEUES[lane], queues[lane].queueUrl]),
    ) as Partial<Record<Variable, string>>;

    this.fanOut = this.createFanOut(table, settings, laneVariables);
    for (const queue of Object.values(queues)) queue.grant(this.fanOut, 'sqs:SendMessage');
    const group = new CfnScheduleGroup(this, 'Schedules');
    const scheduleRole = this.createScheduleRole(group);
    grantKey(encryptionKey, scheduleRole);
    const props = { table, settings, dashboardUrl, encryptionKey };
    const createLane = (id: string, lane: Lane) => {
      const deliver = this.createDeliver(id, lane, props, laneVariables, group, scheduleRole);
      consumeQueue(deliver, queues[lane], {
        maxConcurrency: settings.deliverConcurrency,
        // Each batch waits for the slowest of its endpoints: the more travel together, the fewer functions wait.
        ...(lane === 'slow' && { batchSize: 100, maxBatchingWindow: Duration.seconds(1) }),
      });
      // Retries stay in their lane; what belongs in a slower one is handed on.
      for (const slower of LANES.slice(LANES.indexOf(lane))) queues[slower].grant(deliver, 'sqs:SendMessage');
      return { queue: queues[lane], deliver };
    };
    this.lanes = {
      quick: createLane('Deliver', 'quick'),
      new: createLane('DeliverNew', 'new'),
      slow: createLane('DeliverSlow', 'slow'),
    };
  }

  private createFanOut(table: Table, settings: Settings, laneVariables: object): BundledFunction {
    const fanOut = new BundledFunction(this, 'FanOut', {
      name: 'fan-out',
      description: 'Sends every new event to the queue, once for each subscribed webhook',
      settings,
      environment: { TABLE_NAME: table.tableName, ...laneVariables },
      timeout: Duration.minutes(1),
    });
    fanOut.addEventSourceMapping('Events', {
      eventSourceArn: table.tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      parallelizationFactor: 10,
      bisectBatchOnError: true,
      // As often as it takes, but not until the stream forgets them after 24 hours: what is given up must be kept somewhere.
      maxRecordAge: Duration.hours(23),
      reportBatchItemFailures: true,
      onFailure: { bind: () => ({ destination: this.fanOutFailures.queueArn }) },
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual('INSERT'),
          dynamodb: { Keys: { sk: { S: FilterRule.isEqual('EVENT') } } },
        }),
      ],
    });
    table.grantStream(fanOut, 'dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator');
    this.fanOutFailures.grant(fanOut, 'sqs:SendMessage');
    grantTable(table, fanOut, ['dynamodb:Query', 'dynamodb:UpdateItem']);
    return fanOut;
  }

  private createDeliver(
    id: string,
    lane: Lane,
    { table, settings, dashboardUrl }: DeliveryProps,
    laneVariables: object,
    group: CfnScheduleGroup,
    scheduleRole: Role,
  ): BundledFunction {
    const deliver = new BundledFunction(this, id, {
      name: 'deliver',
      description: `Sends deliveries that are due, signed, and decides what follows (${lane} lane)`,
      settings,
      environment: {
        TABLE_NAME: table.tableName,
        LANE: lane,
        ...laneVariables,
        SCHEDULE_GROUP: group.ref,
        SCHEDULE_ROLE_ARN: scheduleRole.roleArn,
        SCHEDULE_DLQ_ARN: this.deadLetters.queueArn,
        SENDER_EMAIL: settings.senderEmail,
        DASHBOARD_URL: dashboardUrl,
      },
      timeout: Duration.seconds(30),
    });
    Validations.of(deliver.role as Role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/<${Stack.of(this).getLogicalId(group)}>/*]`,
      reason: 'Schedules are named by the attempt that they are for',
    });
    grantTable(table, deliver, ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:UpdateItem']);
    if (lane === 'quick') grantTable(table, deliver, ['dynamodb:Query']); // pages of a recovery
    deliver.addToRolePolicy(
      new PolicyStatement({ actions: ['scheduler:CreateSchedule'], resources: [this.schedulesArn(group)] }),
    );
    deliver.addToRolePolicy(
      new PolicyStatement({
        actions: ['iam:PassRole'],
        resources: [scheduleRole.roleArn],
        conditions: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
      }),
    );
    deliver.addToRolePolicy(
      new PolicyStatement({ actions: ['ses:SendEmail'], resources: this.identityArns(settings.senderEmail) }),
    );
    return deliver;
  }

  /** What the schedules themselves may do: send to the queue, and what they cannot send to the dead letters. */
  private createScheduleRole(group: CfnScheduleGroup): Role {
    const role = new Role(this, 'ScheduleRole', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': group.attrArn } },
      }),
    });
    this.queue.grant(role, 'sqs:SendMessage');
    this.deadLetters.grant(role, 'sqs:SendMessage');
    return role;
  }

  private schedulesArn(group: CfnScheduleGroup): string {
    return Stack.of(this).formatArn({ service: 'scheduler', resource: 'schedule', resourceName: `${group.ref}/*` });
  }

  // SES checks the identity that is verified: the address, or its domain.
  private identityArns(senderEmail: string): string[] {
    const domain = senderEmail.slice(senderEmail.indexOf('@') + 1);
    return [senderEmail, domain].map((resourceName) =>
      Stack.of(this).formatArn({ service: 'ses', resource: 'identity', resourceName }),
    );
  }
}
