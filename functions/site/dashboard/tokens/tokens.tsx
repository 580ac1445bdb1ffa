import { useState } from 'preact/hooks';
import type { Permission } from '../../../../lib/credentials.ts';
import { ActionForm } from '../components/action-form.tsx';
import { Button, Form, PageTitle, Panel } from '../components/basics.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Choices, Input, TextArea } from '../components/field.tsx';
import { durationText } from '../components/time.tsx';
import type { ResponseOf } from '../state/api.ts';
import { useForm } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';
import { TokenInspector } from './token-inspector.tsx';

const PERMISSIONS = [
  ['read', 'Read', 'Reads documents, pulls changes and holds connections.'],
  ['write', 'Write', 'Changes documents and pushes changes. Does not include reading.'],
] as const satisfies [Permission, string, string][];

/** Creates and inspects scoped tokens. The service does not store tokens. */
export function Tokens() {
  const [revoking, setRevoking] = useState<string>();
  const [revoked, setRevoked] = useState(0);
  const { can } = useSession();
  return (
    <>
      <PageTitle>Tokens</PageTitle>
      <p class="muted">
        A scoped token gives a browser or an app access to specific documents for a limited time. The service does not
        store tokens, so this page cannot list them.
      </p>
      <div class="columns">
        {can('POST /v1/tokens') && <Mint />}
        <div>
          <TokenInspector onRevoke={setRevoking} version={revoked} />
          {can('POST /v1/tokens/{token_id}/revoke') && <RevokePanel onRevoke={setRevoking} />}
        </div>
      </div>
      {revoking !== undefined && (
        <RevokeDialog
          of={revoking}
          onDone={() => setRevoked((last) => last + 1)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </>
  );
}

function Mint() {
  const { call, reveal } = useSession();
  const { value, field } = useForm({ documents: '', permissions: ['read'] as Permission[], ttl: '3600', user: '' });
  const { documents, permissions, ttl } = value;
  const user = value.user.trim() || undefined;
  const patterns = documents.split(/[\s,]+/).filter(Boolean);
  const done = ({ token, token_id }: ResponseOf<'POST /v1/tokens'>) =>
    reveal({
      title: 'Your new token',
      text: token,
      label: 'token',
      ifLost: 'Revoke it and create another one.',
      children: (
        <p class="muted">
          Its id is <code>{token_id}</code>. Keep it if you may have to revoke the token.
        </p>
      ),
    });
  return (
    <Panel title="Create a token">
      <ActionForm
        action="Create token"
        act={() => call('POST /v1/tokens', { body: { documents: patterns, permissions, ttl: Number(ttl), user } })}
        onDone={done}
      >
        <TextArea
          label="Documents"
          hint="Patterns of document keys, one per line. * matches one segment, or at the end one or more."
          placeholder="org:acme:*"
          entries={patterns}
          {...field('documents')}
        />
        <Choices legend="Permissions" options={PERMISSIONS} {...field('permissions')} />
        <Input
          label="Lifetime"
          hint={`In seconds, up to 86,400.${Number(ttl) > 0 ? ` This is ${durationText(Math.round(Number(ttl)))}.` : ''}`}
          {...field('ttl')}
        />
        <Input
          label="User"
          hint="Optional. The person or device that receives the token, in your terms."
          placeholder="user-7"
          {...field('user')}
        />
        <p class="hint">The token expires earlier if the key that you are signed in with is revoked or expires.</p>
      </ActionForm>
    </Panel>
  );
}

function RevokePanel({ onRevoke }: { onRevoke: (tokenId: string) => void }) {
  const [id, setId] = useState('');
  const [error, setError] = useState<string>();
  const submit = () => {
    setError(id.trim() === '' ? 'is required' : undefined);
    if (id.trim() !== '') onRevoke(id.trim());
  };
  return (
    <Panel title="Revoke a token">
      <Form onSubmit={submit}>
        <Input
          label="Token id"
          hint="From the response that created the token, or the origin of a change made with it."
          value={id}
          placeholder="tok_…"
          onInput={setId}
          error={error}
        />
        <Button type="submit" kind="danger">
          Revoke
        </Button>
      </Form>
    </Panel>
  );
}

function RevokeDialog({ of: tokenId, onDone, onClose }: { of: string; onDone: () => void; onClose: () => void }) {
  const { call } = useSession();
  return (
    <Confirm
      title="Revoke this token?"
      action="Revoke token"
      kind="danger"
      act={() => call('POST /v1/tokens/{token_id}/revoke', { path: { token_id: tokenId } })}
      announcement="Token revoked."
      onDone={() => {
        onDone();
        onClose();
      }}
      onClose={onClose}
    >
      <p>
        <code>{tokenId}</code> stops working immediately. This cannot be undone.
      </p>
    </Confirm>
  );
}
