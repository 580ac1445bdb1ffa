import { sendMessageTarget } from '../../../lib/deployment.ts';
import { ACCOUNT, REGION } from '../template.ts';
import { type Service, ServiceError } from './endpoints.ts';
import type { LocalIam } from './iam.ts';
import type { LocalQueue } from './sqs.ts';

export interface Schedule {
  GroupName: string;
  ScheduleExpression: string;
  Target: { Arn: string; RoleArn: string; Input: string; DeadLetterConfig?: { Arn: string } };
}

type CreateSchedule = Schedule & { Name: string };

export interface SchedulerOptions {
  now: () => number;
  speed: number;
  iam: LocalIam;
  /** Returns a queue by its URL or ARN. */
  queueAt(urlOrArn: string): LocalQueue | undefined;
  /** Stores every schedule by group and name until it fires. Schedules that it contains initially are scheduled again. */
  kept: Map<string, Schedule>;
}

const AT = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/;

/** The REST protocol of EventBridge Scheduler, for one-shot schedules that send to a queue and delete themselves. */
export class LocalScheduler {
  private readonly options: SchedulerOptions;
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(options: SchedulerOptions) {
    this.options = options;
    for (const [key, schedule] of options.kept) this.wait(key, schedule);
  }

  readonly service: Service = ({ input, principal }) => {
    const created = this.create(input as unknown as CreateSchedule, principal);
    return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(created) };
  };

  count(): number {
    return this.timers.size;
  }

  stop(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private create({ Name, ...schedule }: CreateSchedule, principal: string): unknown {
    const { GroupName, ScheduleExpression, Target } = schedule;
    const key = `${GroupName}/${Name}`;
    const at = AT.exec(ScheduleExpression)?.[1];
    if (!at || Number.isNaN(Date.parse(`${at}Z`)))
      throw new ServiceError('ValidationException', 'ScheduleExpression is not valid');
    // AWS does not document the result for a time in the past. This is the stricter interpretation.
    if (Date.parse(`${at}Z`) < this.options.now())
      throw new ServiceError('ValidationException', `The time of ${ScheduleExpression} is in the past`);
    if (Target.Arn !== sendMessageTarget('aws'))
      throw new ServiceError('ValidationException', `The local Scheduler has no target ${Target.Arn}`);
    if (!parseObject(Target.Input))
      throw new ServiceError('ValidationException', 'The Input of the target is not a JSON object');
    const arn = `arn:aws:scheduler:${REGION}:${ACCOUNT}:schedule/${key}`;
    const { iam, kept } = this.options;
    iam.require(principal, 'scheduler:CreateSchedule', arn);
    iam.require(principal, 'iam:PassRole', Target.RoleArn, { 'iam:PassedToService': 'scheduler.amazonaws.com' });
    if (this.timers.has(key)) throw new ServiceError('ConflictException', `Schedule ${Name} already exists`, 409);
    kept.set(key, schedule);
    this.wait(key, schedule);
    return { ScheduleArn: arn };
  }

  private wait(key: string, schedule: Schedule): void {
    const { now, speed, kept } = this.options;
    const at = Date.parse(`${AT.exec(schedule.ScheduleExpression)?.[1]}Z`);
    const timer = setTimeout(
      () => {
        this.timers.delete(key);
        this.fire(schedule.Target);
        kept.delete(key);
      },
      Math.max(0, at - now()) / speed,
    );
    this.timers.set(key, timer);
  }

  /** Sends the message. If that fails, sends the input to the dead-letter queue. */
  fire({ Input, DeadLetterConfig }: Pick<Schedule['Target'], 'Input' | 'DeadLetterConfig'>): void {
    const { queueAt } = this.options;
    const { QueueUrl, MessageBody, MessageGroupId } = parseObject(Input) ?? {};
    const queue = queueAt(String(QueueUrl));
    const isMessage = typeof MessageBody === 'string' && MessageBody !== '';
    if (queue && isMessage) queue.send(MessageBody, { group: MessageGroupId?.toString() });
    else queueAt(DeadLetterConfig?.Arn ?? '')?.send(Input);
  }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
