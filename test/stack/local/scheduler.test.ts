import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeptMap } from '../../../infra/local/kept-map.ts';
import type { ServiceRequest } from '../../../infra/local/services/endpoints.ts';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import { LocalScheduler, type Schedule } from '../../../infra/local/services/scheduler.ts';
import { sendMessageTarget } from '../../../lib/deployment.ts';
import { readTemplate } from './gateway.ts';
import { createQueue } from './queues.ts';

function createScheduler(kept = new Map<string, Schedule>()) {
  const iam = new LocalIam(readTemplate());
  iam.isPermissive = true;
  const queues = new Map(['main', 'dead'].map((name) => [name, createQueue({ name, arn: name })]));
  const queueAt = (name: string) => queues.get(name);
  const scheduler = new LocalScheduler({ now: () => 0, speed: 1, iam, queueAt, kept });
  const create = (expression: string, Input: string) => {
    const Target = { Arn: sendMessageTarget('aws'), RoleArn: 'role', Input, DeadLetterConfig: { Arn: 'dead' } };
    const input: Record<string, unknown> = { Name: 'a', GroupName: 'group', ScheduleExpression: expression, Target };
    return scheduler.service({ input, principal: '' } as ServiceRequest);
  };
  const received = (name: string) =>
    queues
      .get(name)
      ?.receive(10)
      .map(({ body, group }) => [body, group]);
  return { scheduler, create, received };
}

describe('a schedule', () => {
  it.each([
    ['with an invalid day', 'at(2026-99-99T00:00:00)', '{}'],
    ['with a rate', 'rate(1 minute)', '{}'],
    ['with an input that is not JSON', 'at(2026-01-01T00:00:00)', '{'],
    ['with the input null', 'at(2026-01-01T00:00:00)', 'null'],
    ['with a time in the past', 'at(1969-12-31T23:59:59)', '{}'],
  ])('is rejected: %s', (_name, expression, input) => {
    const { scheduler, create } = createScheduler();
    expect(() => create(expression, input)).toThrow(/not valid|not a JSON object|past/);
    expect(scheduler.count()).toBe(0);
  });

  it('is kept until its message is stored', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const file = new DatabaseSync(':memory:');
    const kept = () => new KeptMap<Schedule>(file, 'schedules');
    const { scheduler, create } = createScheduler(kept());
    create('at(1970-01-01T00:00:01)', '{"QueueUrl":"main","MessageBody":"hello","MessageGroupId":"g"}');
    expect(() => create('at(1970-01-01T00:00:02)', '{}')).toThrow('already exists');
    vi.spyOn(scheduler, 'fire').mockImplementation(() => {
      throw new Error('The disk is full');
    });
    expect(() => vi.advanceTimersByTime(1000)).toThrow('full');
    const next = createScheduler(kept());
    vi.advanceTimersByTime(1000);
    expect([next.received('main'), kept().size, next.scheduler.count()]).toEqual([[['hello', 'g']], 0, 0]);
  });

  it('has no effect if it cannot be stored, and stays if it cannot be removed', () => {
    const file = new DatabaseSync(':memory:');
    const kept = new KeptMap<Schedule>(file, 'schedules');
    const { scheduler, create } = createScheduler(kept);
    kept.set('stored', {} as Schedule);
    file.close();
    expect(() => create('at(1970-01-01T00:00:01)', '{}')).toThrow();
    expect(() => kept.delete('stored')).toThrow();
    expect([scheduler.count(), [...kept.keys()]]).toEqual([0, ['stored']]);
  });

  it.each([
    '{}',
    '{"QueueUrl":"nowhere","MessageBody":"a"}',
    '{"QueueUrl":"main"}',
    '{"QueueUrl":"main","MessageBody":1}',
  ])('sends an invalid input to its dead letters: %s', (Input) => {
    const { scheduler, received } = createScheduler();
    scheduler.fire({ Input, DeadLetterConfig: { Arn: 'dead' } });
    expect([received('main'), received('dead')]).toEqual([[], [[Input, undefined]]]);
  });
});
