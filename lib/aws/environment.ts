import type { Targets } from '../webhooks/endpoint-url.ts';

/** Every environment variable of the functions. The infrastructure sets them by these names. */
export type Variable =
  | 'TABLE_NAME'
  | 'DELIVERIES_QUEUE_URL'
  | 'NEW_QUEUE_URL'
  | 'SLOW_QUEUE_URL'
  | 'LANE'
  | 'CHECKS_QUEUE_URL'
  | 'SCHEDULE_GROUP'
  | 'SCHEDULE_ROLE_ARN'
  | 'SCHEDULE_DLQ_ARN'
  | 'SENDER_EMAIL'
  | 'DASHBOARD_URL';

/** Reads a variable; throws if it is missing, so that a function without it never starts. */
export function environment(name: Variable): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set`);
  return value;
}

/** The deployed stack never sets `TARGETS`; the local one sets `any`, for receivers on loopback. */
export const targets = (): Targets => (process.env.TARGETS === 'any' ? 'any' : 'public');
