import { expect, it } from 'vitest';
import { redelivery } from '../../../lib/deliveries/redelivery.ts';
import { DAY_MS, now } from '../../memory/contracts/builders.ts';

const unrecorded = (createdAt: number) => ({ run: 0, status: 'pending', recovery: undefined, createdAt }) as const;
const recorded = (status: 'failed' | 'succeeded' | 'pending' | 'retrying', recovery?: string) => ({
  ...{ run: 2, status, recovery, createdAt: now },
});
const enabled = { status: 'enabled' } as const;
const disabled = { status: 'disabled' } as const;

it.each([
  ['waits for a first run of less than a day', unrecorded(now - DAY_MS), false, enabled, 'first run pending'],
  ['replaces a first run that is stuck', unrecorded(now - DAY_MS - 1), false, enabled, { run: 1 }],
  ['needs an enabled webhook', recorded('failed'), true, disabled, 'webhook disabled'],
  ['states the pending first run before the webhook', unrecorded(now), false, disabled, 'first run pending'],
  ['follows a failed run', recorded('failed'), true, enabled, { run: 3 }],
  ['follows a successful run', recorded('succeeded'), true, enabled, { run: 3 }],
  ['takes the place of a run in its recovery', recorded('retrying', 'rcv'), true, enabled, { run: 3, recovery: 'rcv' }],
  [
    'takes the place of a pending run in its recovery',
    recorded('pending', 'rcv'),
    true,
    enabled,
    { run: 3, recovery: 'rcv' },
  ],
  ['does not count for a recovery whose run has ended', recorded('failed', 'rcv'), true, enabled, { run: 3 }],
])('a redelivery %s', (_, delivery, isRecorded, webhook, expected) => {
  expect(redelivery(delivery, isRecorded, webhook, now)).toEqual(expected);
});
