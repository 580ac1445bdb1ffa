import { describe, expect, it } from 'vitest';
import { LocalIam } from '../../../infra/local/services/iam.ts';
import { LocalScheduler, type Schedule } from '../../../infra/local/services/scheduler.ts';
import { sendMessageTarget } from '../../../lib/deployment.ts';
import { eventually } from '../../support/service.ts';
import { readTemplate } from './gateway.ts';
import { createQueue } from './queues.ts';

function createScheduler(kept = new Map<string, Schedule>()) {
  const iam = new LocalIam(readTemplate());
  iam.isPermissive = true;
  const queues = new Map(['main', 'dead'].map((name) => [name, createQueue({ name, arn: name })]));
  const queueAt = (name: string) => queues.get(name);
  const scheduler = new LocalScheduler({ groups: ['group'], now: () => 0, speed: 1, iam, queueAt, kept });
  const create = (expression: string, Input: string) => {
    const Target = { Arn: sendMessageTarget('aws'), RoleArn: 'role', Input, DeadLetterConfig: { Arn: 'dead' } };
    const body = JSON.stringify({ GroupName: 'group', ScheduleExpression: expression, Target });
    return call('POST', body);
  };
  const call = (method: string, body = '') =>
    scheduler.service({
      method,
      action: `${method} schedules`,
      path: '/schedules/a',
      headers: {},
      principal: '',
      body,
    });
  const bodies = (name: string) =>
    queues
      .get(name)
      ?.receive(10)
      .map(({ body }) => body);
  return { scheduler, create, remove: () => call('DELETE'), bodies };
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

  it('sends its message', () => {
    const { scheduler, bodies } = createScheduler();
    const Input = JSON.stringify({ QueueUrl: 'main', MessageBody: 'hello' });
    scheduler.fire({ Arn: sendMessageTarget('aws'), RoleArn: 'role', Input });
    expect(bodies('main')).toEqual(['hello']);
  });

  it.each([
    '{}',
    '{"QueueUrl":"nowhere","MessageBody":"a"}',
    '{"QueueUrl":"main"}',
    '{"QueueUrl":"main","MessageBody":1}',
  ])('sends an invalid input to its dead letters: %s', (Input) => {
    const { scheduler, bodies } = createScheduler();
    scheduler.fire({ Arn: sendMessageTarget('aws'), RoleArn: 'role', Input, DeadLetterConfig: { Arn: 'dead' } });
    expect([bodies('main'), bodies('dead')]).toEqual([[], [Input]]);
  });

  it('fires once on time after a restart of the scheduler', async () => {
    const kept = new Map<string, Schedule>();
    const ended = createScheduler(kept);
    ended.create('at(1970-01-01T00:00:01)', JSON.stringify({ QueueUrl: 'main', MessageBody: 'hello' }));
    ended.scheduler.stop();
    const { scheduler, bodies } = createScheduler(kept);
    expect([scheduler.count(), bodies('main')]).toEqual([1, []]);
    await eventually(() => scheduler.count() === 0);
    expect([bodies('main'), kept.size]).toEqual([['hello'], 0]);
  });

  it('is not kept after it is deleted', () => {
    const kept = new Map<string, Schedule>();
    const { create, remove } = createScheduler(kept);
    create('at(1970-01-01T01:00:00)', '{}');
    expect(kept.size).toBe(1);
    remove();
    expect(kept.size).toBe(0);
  });
});
