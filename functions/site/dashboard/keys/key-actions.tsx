import { useState } from 'preact/hooks';
import { Button } from '../components/basics.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Callout } from '../components/feedback.tsx';
import { Choice, Input } from '../components/field.tsx';
import type { Key, ResponseOf } from '../state/api.ts';
import { useForm } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';
import { nameOf } from './keys.tsx';

type Rotated = ResponseOf<'POST /v1/keys/{key}/rotate'>;

interface DialogProps {
  of: Key;
  onClose: () => void;
  onChange: () => void;
}

/** Renames, rotates and revokes a key that can still be used. */
export function KeyActions({ of: key, onChange }: Omit<DialogProps, 'onClose'>) {
  const { keyId, replaceKey, reveal } = useSession();
  const [dialog, setDialog] = useState<'rename' | 'rotate' | 'revoke'>();
  const close = () => setDialog(undefined);
  const done = () => {
    close();
    onChange();
  };
  const rotated = ({ key: text }: Rotated) => {
    close();
    const isOwn = text !== null && key.id === keyId;
    if (isOwn) replaceKey(text); // a late 401 response to the old key would sign the user out and hide the new key
    reveal({
      title: 'Your new key',
      text,
      label: 'key',
      ifLost: 'Rotate the new key to get another one.',
      children: isOwn && <p class="muted">You are now signed in with the new key.</p>,
      onClose: onChange,
    });
  };
  return (
    <>
      <Button onClick={() => setDialog('rename')}>Rename</Button>
      {!key.replaced_by && <Button onClick={() => setDialog('rotate')}>Rotate</Button>}
      <Button kind="danger" onClick={() => setDialog('revoke')}>
        Revoke
      </Button>
      {dialog === 'rename' && <RenameDialog of={key} onClose={close} onChange={done} />}
      {dialog === 'rotate' && <RotateDialog of={key} onClose={close} onRotated={rotated} />}
      {dialog === 'revoke' && <RevokeDialog of={key} onClose={close} onChange={done} />}
    </>
  );
}

function RenameDialog({ of: key, onClose, onChange }: DialogProps) {
  const { call } = useSession();
  const { value, field } = useForm({ name: key.name ?? '' });
  return (
    <Confirm
      title="Rename this key"
      action="Rename key"
      act={() => call('PATCH /v1/keys/{key}', { path: { key: key.id }, body: { name: value.name.trim() || null } })}
      announcement="Key renamed."
      onDone={onChange}
      onClose={onClose}
    >
      <Input label="Name" hint="The app that uses this key. Leave empty for none." {...field('name')} />
    </Confirm>
  );
}

/** The seconds that the old key keeps working. The first option is the default of the API. */
const GRACES = [
  ['86400', 'In 24 hours', 'Time to deploy the new key everywhere.'],
  ['3600', 'In 1 hour', 'For a deployment that is already running.'],
  ['0', 'Now', 'The key has leaked. Requests with it return 401.'],
] as const;
type Grace = (typeof GRACES)[number][0];

function RotateDialog({
  of: key,
  onClose,
  onRotated,
}: Omit<DialogProps, 'onChange'> & { onRotated: (rotated: Rotated) => void }) {
  const { call } = useSession();
  const [grace, setGrace] = useState<Grace>(GRACES[0][0]);
  return (
    <Confirm
      title="Rotate this key?"
      action="Rotate key"
      kind={grace === '0' ? 'danger' : 'primary'}
      act={() => call('POST /v1/keys/{key}/rotate', { path: { key: key.id }, body: { grace_seconds: Number(grace) } })}
      onDone={onRotated}
      onClose={onClose}
    >
      <p>You get a new key with the same name, type, allowlist and expiry. It works immediately.</p>
      <Choice legend="The old key stops working" options={GRACES} value={grace} onInput={setGrace} />
    </Confirm>
  );
}

function RevokeDialog({ of: key, onClose, onChange }: DialogProps) {
  const { call, keyId } = useSession();
  return (
    <Confirm
      title="Revoke this key?"
      action="Revoke key"
      kind="danger"
      act={() => call('POST /v1/keys/{key}/revoke', { path: { key: key.id } })}
      announcement={`${nameOf(key)} revoked.`}
      onDone={onChange}
      onClose={onClose}
    >
      <p>
        <strong>{nameOf(key)}</strong> stops working immediately, and so do the tokens created with it. This cannot be
        undone.
      </p>
      {key.id === keyId && (
        <Callout kind="warning">You are signed in with this key. Revoking it signs you out.</Callout>
      )}
    </Confirm>
  );
}
