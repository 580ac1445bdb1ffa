import { describe, expect, it } from 'vitest';
import { resultEvent } from '../../../lib/deliveries/attempt-log.ts';
import { attempt, message } from './builders.ts';

const names = {
  webhook_id: 'whk_1',
  event_id: 'evt_1',
  project_id: 'prj_1',
  environment: 'live',
  run: 1,
  attempt: 6,
};
const sixth = message({ run: 1, attempt: 6 });

describe('the log of a message', () => {
  it('contains the attempt and its verdict', () => {
    const result = {
      task: 'send',
      attempt: attempt(),
      verdict: { status: 'failed' },
      disabled: true,
      isRecorded: true,
    } as const;
    const fields = { status: 'failed', status_code: 500, error: 'status_not_2xx', duration_ms: 10, disabled: true };
    const event = 'delivery.attempted';
    expect(resultEvent(sixth, result)).toEqual({ level: 'warn', event, fields: { ...names, ...fields } });
    const succeeded = { ...result, verdict: { status: 'succeeded' }, disabled: false } as const;
    expect(resultEvent(sixth, succeeded)).toMatchObject({ level: 'info', event, fields: { status: 'succeeded' } });
  });

  it('contains the reason for no attempt', () => {
    const fields = { ...names, reason: 'drop' };
    expect(resultEvent(sixth, { task: 'drop' })).toEqual({ level: 'info', event: 'delivery.not_attempted', fields });
  });
});
