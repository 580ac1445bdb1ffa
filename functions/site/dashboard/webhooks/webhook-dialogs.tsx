import { useState } from 'preact/hooks';
import { EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import type { Json } from '../../../../lib/json.ts';
import { Confirm } from '../components/dialog.tsx';
import { Select, TextArea } from '../components/field.tsx';
import { otherProblem, violationIn, violationOf } from '../components/violations.ts';
import type { Webhook } from '../state/api.ts';
import { useLoaded, useSending } from '../state/hooks.ts';
import { goTo, linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { SecretFields, SecretShown } from './secret-fields.tsx';

export interface DialogProps {
  of: Webhook;
  onClose: () => void;
}

/** Sends a sample event and opens its delivery. */
export function TestDialog({ of: { id, events }, onClose }: DialogProps) {
  const { call, environment } = useSession();
  const [type, setType] = useState<EventType>(events[0] ?? 'document.changed');
  const [edited, setEdited] = useState<string>();
  const [error, setError] = useState<string>();
  const types = useLoaded('event types', () => call('GET /v1/event-types', {}));
  const sample = types.value?.data.find(({ name }) => name === type)?.sample.data;
  const text = edited ?? (sample ? JSON.stringify(sample, null, 2) : '');
  // Without a change, the service sends its sample with the current time.
  const data = edited === undefined ? undefined : objectIn(edited);
  const sending = useSending(() => call('POST /v1/webhooks/{id}/test', { path: { id }, body: { type, data } }));
  const send = async () => {
    setError(edited !== undefined && data === undefined ? 'must be a JSON object' : undefined);
    if (edited !== undefined && data === undefined) return;
    const sent = await sending.send();
    if (sent) goTo(linkTo(environment, ['webhooks', id, 'deliveries', sent.event_id]));
  };
  return (
    <Confirm
      title="Send a test event"
      action="Send"
      busy={sending.busy}
      problem={otherProblem(sending.problem, ['data'])}
      onConfirm={send}
      onClose={onClose}
    >
      <p>
        Sends a sample event to this webhook only, with the header X-Service-Test. It is sent once and never disables
        the webhook.
      </p>
      <Select
        label="Event type"
        value={type}
        options={EVENT_TYPES.map((each) => [each, each])}
        onChange={(chosen) => {
          setType(chosen as EventType);
          setEdited(undefined);
        }}
      />
      <TextArea
        label="Data"
        rows={8}
        value={text}
        onInput={setEdited}
        error={error ?? violationIn(sending.problem, 'data')}
      />
    </Confirm>
  );
}

/** The JSON object in a text. `undefined` if it is something else. */
function objectIn(text: string): { [member: string]: Json } | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function RotateSecretDialog({ of: { id }, onClose }: DialogProps) {
  const { call, announce } = useSession();
  const [secret, setSecret] = useState<string>();
  const [rotated, setRotated] = useState<string | null>();
  const sending = useSending(() => call('POST /v1/webhooks/{id}/rotate-secret', { path: { id }, body: { secret } }));
  const rotate = async () => {
    const response = await sending.send();
    if (!response) return;
    announce('Secret rotated.');
    if (secret === undefined) setRotated(response.secret);
    else onClose();
  };
  if (rotated !== undefined) return <SecretShown title="New signing secret" secret={rotated} onClose={onClose} />;
  return (
    <Confirm
      title="Rotate the signing secret?"
      action="Rotate secret"
      busy={sending.busy}
      problem={otherProblem(sending.problem, ['secret'])}
      onConfirm={rotate}
      onClose={onClose}
    >
      <p>
        For 24 hours, events are signed with both secrets. The signature of the old one is in
        X-Service-Signature-Previous. Switch your endpoint to the new secret.
      </p>
      <SecretFields secret={secret} onChange={setSecret} error={violationOf(sending.problem, 'secret')} />
    </Confirm>
  );
}

export function DeleteDialog({ of: { id, url }, onClose }: DialogProps) {
  const { call, environment, announce } = useSession();
  const sending = useSending(() => call('DELETE /v1/webhooks/{id}', { path: { id } }));
  const remove = async () => {
    if (!(await sending.send())) return;
    announce('Webhook deleted.');
    goTo(linkTo(environment, ['webhooks']));
  };
  return (
    <Confirm
      title="Delete this webhook?"
      action="Delete webhook"
      kind="danger"
      busy={sending.busy}
      problem={sending.problem}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        No more events are sent to <strong class="break">{url}</strong>, and pending retries are dropped. This cannot be
        undone.
      </p>
    </Confirm>
  );
}
