import { Aws, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { BundledFunction } from './bundled-function.ts';
import { pinLogicalId } from './logical-ids.ts';
import { createQueue } from './queues.ts';

/** A group of one-shot schedules that send a message to a queue. */
export class Schedules extends Construct {
  /**
   * The messages that schedules could not send, as the input of their target (EventBridge Scheduler User Guide, "Configuring a
   * schedule's dead-letter queue"). SQS cannot move them back, so `infra/commands/replay.ts` sends them.
   */
  readonly failures: Queue;
  private readonly group: CfnScheduleGroup;
  private readonly role: Role;

  constructor(scope: Construct, id: string, queue: Queue) {
    super(scope, id);
    this.failures = createQueue(this, 'FailedSchedules');
    this.group = new CfnScheduleGroup(this, 'Group');
    pinLogicalId(this.group, 'RetrySchedules');
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': this.group.attrArn } },
      }),
    });
    for (const target of [queue, this.failures]) target.grant(this.role, 'sqs:SendMessage');
  }

  /** Allows a function to create schedules in this group, and to pass them their role. */
  grantSchedule(fn: BundledFunction): void {
    fn.addEnvironment('SCHEDULE_GROUP', this.group.ref);
    fn.addEnvironment('SCHEDULE_ROLE_ARN', this.role.roleArn);
    fn.addEnvironment('SCHEDULE_DLQ_ARN', this.failures.queueArn);
    const names = { service: 'scheduler', resource: 'schedule', resourceName: `${this.group.ref}/*` };
    const schedules = Stack.of(this).formatArn(names);
    fn.addToRolePolicy(new PolicyStatement({ actions: ['scheduler:CreateSchedule'], resources: [schedules] }));
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['iam:PassRole'],
        resources: [this.role.roleArn],
        conditions: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
      }),
    );
  }
}
