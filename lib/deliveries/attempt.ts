import type { HeaderList } from '../webhooks/custom-headers.ts';
import type { Trigger } from './statuses.ts';

/** How one POST ended. */
export interface Outcome {
  /** `null` if there was no response. */
  statusCode: number | null;
  /** A stable code of a failure (see endpoint-failures.ts), or `null`. */
  error: string | null;
  durationMs: number;
  /** At most 1 KiB of the response's text. */
  excerpt: string | null;
  /** At most 1 KiB of the response's headers. Absent without a response. */
  headers?: HeaderList | undefined;
}

/** The duration without the time in which the function could not run. */
export interface TimedOutcome extends Outcome {
  waitedMs: number;
}

export const isSuccess = ({ statusCode }: Pick<Outcome, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

export interface Attempt extends Outcome {
  number: number;
  trigger: Trigger;
  at: number;
  /** The URL of the attempt. The webhook can have a different URL now. */
  url?: string | undefined;
  /** The sent headers that other members do not determine (`keptHeaders`). */
  sent?: HeaderList | undefined;
}
