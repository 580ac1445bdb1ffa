import { FAILURES } from '../../../../lib/delivery/failures.ts';
import type { Delivery } from '../api.ts';
import { Badge, type Tone } from './basics.tsx';

export type DeliveryStatus = Delivery['status'];
type Attempt = Delivery['attempts'][number];

const TONES: Record<DeliveryStatus, Tone> = {
  pending: 'waiting',
  succeeded: 'good',
  retrying: 'waiting',
  failed: 'bad',
  canceled: 'off',
  skipped: 'off',
};
export const MEANINGS: Record<DeliveryStatus, string> = {
  pending: 'The first attempt is queued.',
  succeeded: 'Your endpoint accepted the event.',
  retrying: 'Another attempt is scheduled.',
  failed: 'All attempts failed.',
  canceled: 'The webhook was disabled before the next attempt.',
  skipped: 'The webhook was disabled when the event occurred.',
};
export const DeliveryBadge = ({ status }: { status: DeliveryStatus }) => <Badge tone={TONES[status]}>{status}</Badge>;

/** Decided by the status code alone: a truncated response body does not make a 2xx a failure. */
export const isSuccess = ({ status_code }: Pick<Attempt, 'status_code'>): boolean =>
  status_code !== null && status_code >= 200 && status_code < 300;

/** The outcome of an attempt: its status code, why it failed, or both. */
export function outcomeText({ status_code, error }: Attempt): string {
  const reason = error === null ? undefined : FAILURES[error as keyof typeof FAILURES];
  if (status_code !== null && (error === null || error === 'status_not_2xx' || isSuccess({ status_code })))
    return `HTTP ${status_code}`;
  const text = reason ?? error ?? 'no response';
  return status_code === null ? capitalized(text) : `HTTP ${status_code}: ${text}`;
}
const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
