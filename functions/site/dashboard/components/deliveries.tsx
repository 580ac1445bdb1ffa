import { causeOf, failureText } from '../../../../lib/deliveries/failure-causes.ts';
import type { Failure } from '../../../../lib/deliveries/failure-codes.ts';
import type { DeliveryReason } from '../../../../lib/deliveries/retry-schedule.ts';
import type { Delivery } from '../state/api.ts';
import { Badge, type Tone } from './basics.tsx';
import { REASON_NAMES } from './delivery-text.ts';
import type { Column } from './table.tsx';
import { In, ShortTime } from './time.tsx';

export type DeliveryStatus = Delivery['status'];
export type Attempt = Delivery['attempts'][number];

const TONES: Record<DeliveryStatus, Tone> = {
  pending: 'waiting',
  succeeded: 'good',
  retrying: 'waiting',
  failed: 'bad',
  canceled: 'waiting',
  skipped: 'waiting',
};

/** Reasons that a person chose. What they cause is no loss. */
const CHOSEN: ReadonlySet<DeliveryReason | null> = new Set(['paused', 'deleted']);

type State = Pick<Delivery, 'status' | 'reason'>;
const isMissed = ({ status }: State): boolean => status === 'canceled' || status === 'skipped';
const isChosen = (of: State): boolean => isMissed(of) && CHOSEN.has(of.reason);

export function DeliveryBadge({ of: delivery }: { of: State }) {
  const tone = isChosen(delivery) ? 'off' : TONES[delivery.status];
  const icon = isMissed(delivery) && tone === 'waiting' ? 'warning' : undefined;
  return (
    <Badge tone={tone} icon={icon}>
      {delivery.status}
    </Badge>
  );
}

/** The status of a delivery in a list, with the time until the next attempt. */
function DeliveryState({ of: delivery }: { of: Delivery }) {
  const { status, next_attempt_at } = delivery;
  return (
    <>
      <DeliveryBadge of={delivery} />
      {status === 'retrying' && next_attempt_at && (
        <small>
          {' '}
          next <In to={next_attempt_at} />
        </small>
      )}
    </>
  );
}

/** The attempts of the latest run: a redelivery starts at 1 again. */
export const latestRun = (attempts: readonly Attempt[]): readonly Attempt[] =>
  attempts.slice(
    Math.max(
      0,
      attempts.findLastIndex(({ number }) => number === 1),
    ),
  );

/** Decided by the status code alone: a truncated response body does not make a 2xx a failure. */
export const isSuccess = ({ status_code }: Pick<Attempt, 'status_code'>): boolean =>
  status_code !== null && status_code >= 200 && status_code < 300;

/** The outcome of an attempt: its status code, why it failed, or both. */
export function outcomeText({ status_code, error, error_reason }: Attempt): string {
  if (status_code !== null && (error === null || error === 'status_not_2xx' || isSuccess({ status_code })))
    return `HTTP ${status_code}`;
  const text = error === null ? 'no response' : failureText(error, error_reason);
  return status_code === null ? capitalized(text) : `HTTP ${status_code}: ${text}`;
}
const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The response to the last attempt in a few words, or why there was no other attempt. */
function LastResponse({ of: { attempts, reason } }: { of: Delivery }) {
  const last = attempts.at(-1);
  if (!last) return <span class="muted">{reason ? REASON_NAMES[reason] : 'none'}</span>;
  const response = last.status_code === null ? outcomeText(last) : `HTTP ${last.status_code}`;
  return (
    <>
      <span title={outcomeText(last)}>{reason ? REASON_NAMES[reason] : response}</span>
      <small>
        {' '}
        {[
          ...(reason ? [response] : []),
          ...(attempts.length > 1 ? [`${attempts.length} attempts`] : []),
          `${last.duration_ms.toLocaleString()} ms`,
        ].join(', ')}
      </small>
    </>
  );
}

/** The columns of every list of deliveries. */
export const OUTCOME_COLUMNS: readonly Column<Delivery>[] = [
  ['Status', (delivery) => <DeliveryState of={delivery} />],
  ['Response', (delivery) => <LastResponse of={delivery} />, 'text'],
  [
    'Last attempt',
    ({ last_attempt_at: at }) => (at ? <ShortTime at={at} /> : <span class="muted">none</span>),
    'number',
  ],
];

const ADVICE: Partial<Record<Failure, string>> = {
  timeout: 'Respond first, within 5 seconds, and process the event afterwards.',
  dns_not_found: 'Check the host name of the endpoint URL.',
  dns_failed: 'Check the name servers of your domain.',
  address_not_public: 'Events are sent to public addresses only.',
  connection_refused: 'Nothing listens at this address and port. Check that your server runs.',
  certificate_invalid: 'Check that the certificate is valid, complete with its chain, and names this host.',
  tls_failed: 'Your server needs TLS 1.3 and HTTP/1.1, and must not require a client certificate.',
  redirect_not_followed: 'Set the endpoint URL to where the redirect leads.',
};
const STATUS_ADVICE: Record<number, string> = {
  401: 'Your endpoint did not accept the request. Check that it verifies with the current secret.',
  403: 'Your endpoint did not accept the request. Check its firewall, and that it verifies with the current secret.',
  404: 'Your server has nothing at this path. Check the endpoint URL.',
  405: 'Your server does not accept POST at this path.',
  410: 'Your server says that this endpoint is gone.',
  413: 'Your server does not accept bodies of this size. Events have up to 256 KiB.',
  429: 'Your server limits how often it is called.',
};

/** The advice for a failed attempt, if there is any. */
export function adviceOn({ status_code: status, error, error_reason }: Attempt): string | undefined {
  if (isSuccess({ status_code: status })) return undefined;
  if (status === null || error !== 'status_not_2xx')
    return causeOf(error, error_reason)?.advice ?? ADVICE[error as Failure];
  return STATUS_ADVICE[status] ?? (status >= 500 ? 'Your endpoint failed. Look for the cause in its log.' : undefined);
}
