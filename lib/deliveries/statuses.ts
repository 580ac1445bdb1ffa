// The browser imports this file too, so it must stay small.

export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'failed', 'canceled', 'skipped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Whether the run has another attempt. */
export const UNDER_WAY = ['pending', 'retrying'] as const satisfies DeliveryStatus[];

/** The run ended without success. */
export const UNDELIVERED = ['failed', 'canceled', 'skipped'] as const satisfies DeliveryStatus[];

export const isUnderWay = (status: DeliveryStatus): boolean => status === 'pending' || status === 'retrying';

/** The cause of an attempt: the schedule, a redelivery, a recovery or a test. */
export const TRIGGERS = ['schedule', 'redelivery', 'recovery', 'test'] as const;
export type Trigger = (typeof TRIGGERS)[number];
