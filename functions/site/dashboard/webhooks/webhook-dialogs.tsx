import { useState } from 'preact/hooks';
import { EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import { Confirm } from '../components/dialog.tsx';
import { Select, TextArea } from '../components/field.tsx';
import { objectIn } from '../components/violations.ts';
import type { Webhook } from '../state/api.ts';
import { linkTo, useGoTo } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';
import { SecretFields, signingSecret } from './secret-fields.tsx';

export interface DialogProps {
  of: Webhook;
  onClose: () => void;
}

/** Sends a sample event and opens its delivery. */
export function TestDialog({ of: { id, events }, onClose }: DialogProps) {
  const { call, environment } = useSession();
  const goTo = useGoTo();
  const [type, setType] = useState<EventType>(events[0] ?? 'document.changed');
  const [edited, setEdited] = useState<string>();
  const types = useRead('GET /v1/event-types', {});
  const sample = types.value?.data.find(({ name }) => name === type)?.sample.data;
  const text = edited ?? (sample ? JSON.stringify(sample, null, 2) : '');
  const send = async () => {
    // Without a change, the service sends its sample with the current time.
    const { value: data, problem } = edited === undefined ? {} : objectIn(edited, 'data');
    if (problem) return { problem };
    return call('POST /v1/webhooks/{id}/test', { path: { id }, body: { type, data } });
  };
  return (
    <Confirm
      title="Send a test event"
      action="Send"
      act={send}
      onDone={(sent) => goTo(linkTo(environment, ['webhooks', id, 'deliveries', sent.event_id]))}
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
      <TextArea label="Data" name="data" rows={8} value={text} onInput={setEdited} />
    </Confirm>
  );
}

export function RotateSecretDialog({ of: { id }, onClose }: DialogProps) {
  const { call, reveal } = useSession();
  const [secret, setSecret] = useState<string>();
  const [isRotated, setRotated] = useState(false);
  if (isRotated) return null;
  return (
    <Confirm
      title="Rotate the signing secret?"
      action="Rotate secret"
      act={() => call('POST /v1/webhooks/{id}/rotate-secret', { path: { id }, body: { secret } })}
      announcement="Secret rotated."
      onDone={(rotated) => {
        if (secret !== undefined) return onClose();
        setRotated(true);
        reveal({ ...signingSecret('New signing secret', rotated.secret), onClose });
      }}
      onClose={onClose}
    >
      <p>
        For 24 hours, events are signed with both secrets. The signature of the old one is in
        X-Service-Signature-Previous. Switch your endpoint to the new secret.
      </p>
      <SecretFields secret={secret} onChange={setSecret} />
    </Confirm>
  );
}

export function DeleteDialog({ of: { id, url }, onClose }: DialogProps) {
  const { call, environment } = useSession();
  const goTo = useGoTo();
  return (
    <Confirm
      title="Delete this webhook?"
      action="Delete webhook"
      kind="danger"
      act={() => call('DELETE /v1/webhooks/{id}', { path: { id } })}
      announcement="Webhook deleted."
      onDone={() => goTo(linkTo(environment, ['webhooks']))}
      onClose={onClose}
    >
      <p>
        No more events are sent to <strong class="break">{url}</strong>, and pending retries are dropped. This cannot be
        undone.
      </p>
    </Confirm>
  );
}
