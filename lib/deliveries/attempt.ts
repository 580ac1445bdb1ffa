import type { HeaderList } from '../webhooks/custom-headers.ts';
import type { Trigger } from './statuses.ts';

/** How one POST ended. */
export interface Outcome {
  /** `null` if there was no response. */
  statusCode: number | null;
  /** A stable code if anything went wrong (failures.ts lists them), else `null`. */
  error: string | null;
  durationMs: number;
  /** At most 1 KiB of the response's text. */
  excerpt: string | null;
  /** At most 1 KiB of the response's headers. Absent without a response. */
  headers?: HeaderList | undefined;
}

/** With the time that the endpoint kept us waiting: less than the duration if we were kept from running. */
export interface TimedOutcome extends Outcome {
  waitedMs: number;
}

export const isSuccess = ({ statusCode }: Pick<Outcome, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

export interface Attempt extends Outcome {
  number: number;
  trigger: Trigger;
  at: number;
  /** Where it was posted: the webhook may have had another URL before. */
  url?: string | undefined;
  /** The headers that it sent and that do not follow from the rest (`keptHeaders`). */
  sent?: HeaderList | undefined;
}
