import { useRef, useState } from 'preact/hooks';
import { EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import { isSuccess } from '../components/deliveries.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Choices, Input } from '../components/field.tsx';
import { fromLocal } from '../components/time.tsx';
import type { QueryOf, Recovery } from '../state/api.ts';
import { useForm, useRepeated } from '../state/hooks.ts';
import { useRead, useSession } from '../state/session.ts';
import { EndpointState, useEndpointTest } from './endpoint-test.tsx';
import { RecoveryDialog } from './recovery-result.tsx';
import type { DialogProps } from './webhook-dialogs.tsx';

const REFRESH_MS = 5000;

/**
 * Tests the endpoint, and recovers missed deliveries. It enables the webhook first if it is disabled. While a recovery is running, it
 * shows that one instead.
 */
export function RecoverDialog({ of: webhook, onClose }: DialogProps) {
  const { id } = webhook;
  const form = useForm<Values>({ since: '', until: '', types: [...EVENT_TYPES] });
  const read = useRead('GET /v1/webhooks/{id}/recover', { path: { id }, query: queryOf(form.value) });
  const last = read.value?.recovery ?? undefined;
  const isKnown = useRef(false); // whether there is a running recovery, before another one is prepared
  isKnown.current ||= read.value !== undefined || read.problem !== undefined;
  const shown = useRef<string | undefined>(undefined); // stays after its end
  const result = useRef<Recovery | undefined>(undefined); // stays if another recovery follows
  if (last?.ended_at === null) shown.current ??= last.recovery_id;
  useRepeated(shown.current ? REFRESH_MS : null, read);
  if (shown.current !== undefined) {
    if (last?.recovery_id === shown.current) result.current = last;
    return <RecoveryDialog of={webhook} recovery={result.current} onClose={onClose} />;
  }
  return (
    <NewRecovery
      of={webhook}
      isReady={isKnown.current}
      form={form}
      count={read.value ? recoveredText(read.value.count) : read.loading ? 'Counting…' : 'Their number is unknown.'}
      onDone={(recoveryId) => {
        shown.current = recoveryId;
        read.reload();
      }}
      onClose={onClose}
    />
  );
}

interface Values {
  since: string;
  until: string;
  types: EventType[];
}

const windowOf = ({ since, until }: Values) => ({ since: fromLocal(since), until: fromLocal(until) });
const areAll = (types: readonly EventType[]): boolean => types.length === EVENT_TYPES.length;

type CountQuery = QueryOf<'GET /v1/webhooks/{id}/recover'>;
const queryOf = (values: Values): CountQuery => ({
  ...windowOf(values),
  ...(!areAll(values.types) && { types: values.types.join(',') }),
});

interface NewProps extends DialogProps {
  /** Whether the endpoint can be tested. */
  isReady: boolean;
  form: ReturnType<typeof useForm<Values>>;
  /** How many deliveries it would send. */
  count: string;
  onDone: (recoveryId: string) => void;
}

/** Asks for the deliveries of a recovery, and says whether the endpoint accepts them now. */
function NewRecovery({ of: webhook, isReady, form: { value, field }, count, onDone, onClose }: NewProps) {
  const { call } = useSession();
  const { id } = webhook;
  const [isDisabled] = useState(webhook.status === 'disabled'); // the initial status, because the request enables the webhook first
  const test = useEndpointTest(webhook, isReady);
  const isFailing = test.attempt !== undefined && !isSuccess(test.attempt);
  const name = isDisabled ? 'Enable and recover' : 'Recover';
  const body = {
    ...windowOf(value),
    ...(!areAll(value.types) && { types: value.types }),
    ...(isDisabled && { enable: true }),
  };
  return (
    <Confirm
      title={isDisabled ? name : 'Recover deliveries'}
      action={isFailing ? `${name} anyway` : name}
      act={() => call('POST /v1/webhooks/{id}/recover', { path: { id }, body })}
      onDone={({ recovery_id }) => onDone(recovery_id)}
      onClose={onClose}
    >
      <EndpointState of={test} />
      <p>
        Deliveries that failed, were canceled or were skipped are sent again, on the full retry schedule.{' '}
        <strong>{value.types.length === 0 ? 'Choose at least one event type.' : count}</strong>
      </p>
      <details>
        <summary>Choose a period or event types</summary>
        <Input
          label="Since"
          hint="In your local time. Leave empty for everything since the endpoint began to fail."
          type="datetime-local"
          {...field('since')}
        />
        <Input
          label="Until"
          hint="Optional, in your local time. Leave empty to include everything until now."
          type="datetime-local"
          {...field('until')}
        />
        <Choices
          legend="Event types"
          all="All event types"
          options={EVENT_TYPES.map((type) => [type, <code>{type}</code>] as const)}
          {...field('types')}
        />
      </details>
    </Confirm>
  );
}

function recoveredText(count: number): string {
  if (count === 0) return 'There is nothing to send again. Deliveries that are retrying follow their schedule.';
  if (count === 1) return '1 delivery will be sent again.';
  const least = count > EXACT_COUNT ? 'At least ' : '';
  return `${least}${count.toLocaleString()} deliveries will be sent again.`;
}
/** The service counts at least this many deliveries exactly. */
const EXACT_COUNT = 10_000;
