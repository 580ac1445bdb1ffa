import { useState } from 'preact/hooks';
import type { Key, ResponseOf } from '../api.ts';
import { Button, type Fact, Facts, PageTitle, Panel } from '../components/basics.tsx';
import { Confirm, ShownOnce } from '../components/dialog.tsx';
import { Await, Callout } from '../components/feedback.tsx';
import { Countdown, Time, TimeOr } from '../components/time.tsx';
import { useLoaded, useSending } from '../hooks.ts';
import { goTo, linkTo } from '../router.ts';
import { useSession } from '../session.ts';
import { AllowlistEditor } from './allowlist.tsx';
import { isUsable, KeyHint, KeyStatus, nameOf } from './keys.tsx';

export function KeyPage({ id }: { id: string }) {
  const { call } = useSession();
  const loaded = useLoaded(id, () => call('GET /v1/keys/{key}', { path: { key: id } }));
  return (
    <Await of={loaded}>
      {(key) => (
        <>
          <PageTitle actions={isUsable(key) && <KeyActions of={key} onChange={loaded.reload} />}>
            {nameOf(key)}
          </PageTitle>
          <Handover of={key} />
          <Panel>
            <KeyFacts of={key} />
          </Panel>
          {isUsable(key) && <AllowlistEditor key={key.id} of={key} onSaved={loaded.reload} />}
        </>
      )}
    </Await>
  );
}

/** For a key that was rotated: its successor, and when it expires. */
function Handover({ of: key }: { of: Key }) {
  const { environment } = useSession();
  if (!key.replaced_by || key.status === 'revoked') return null;
  const successor = <a href={linkTo(environment, ['keys', key.replaced_by])}>the new key</a>;
  if (key.status !== 'expiring' || !key.expires_at) return <Callout kind="info">Replaced by {successor}.</Callout>;
  return (
    <Callout kind="warning">
      Replaced by {successor}. This key expires on <Time at={key.expires_at} />. Time left:{' '}
      <Countdown to={key.expires_at} over="none, it has expired" />. Deploy the new key, then revoke this one.
    </Callout>
  );
}

function KeyFacts({ of: key }: { of: Key }) {
  const { environment } = useSession();
  const linked = (id: string | null) => (id ? <a href={linkTo(environment, ['keys', id])}>{id}</a> : '–');
  return (
    <Facts>
      {[
        ['Key', <KeyHint key="key" of={key} />],
        ['ID', <code key="id">{key.id}</code>],
        ['Status', <KeyStatus key="status" status={key.status} />],
        ['Created', <Time key="created" at={key.created_at} />],
        ['Last used (to the hour)', <TimeOr key="used" at={key.last_used_at} none="never" />],
        ['Expires', <TimeOr key="expires" at={key.expires_at} none="never" />],
        ...(key.revoked_at ? [['Revoked', <Time key="revoked" at={key.revoked_at} />] as Fact] : []),
        ...(key.replaces ? [['Replaces', linked(key.replaces)] as Fact] : []),
      ]}
    </Facts>
  );
}

function KeyActions({ of: key, onChange }: { of: Key; onChange: () => void }) {
  const { call, environment, keyId, announce } = useSession();
  const [asked, setAsked] = useState<'rotate' | 'revoke'>();
  const [created, setCreated] = useState<ResponseOf<'POST /v1/keys/{key}/rotate'>>();
  const path = { key: key.id };
  const rotating = useSending(() => call('POST /v1/keys/{key}/rotate', { path }));
  const revoking = useSending(() => call('POST /v1/keys/{key}/revoke', { path }));
  const rotate = async () => {
    const rotated = await rotating.send();
    if (!rotated) return;
    setAsked(undefined);
    setCreated(rotated);
    onChange();
  };
  const revoke = async () => {
    if (!(await revoking.send())) return;
    setAsked(undefined);
    announce(`${nameOf(key)} revoked.`);
    onChange();
  };
  const close = () => {
    setAsked(undefined);
    rotating.clear();
    revoking.clear();
  };
  return (
    <>
      {!key.replaced_by && <Button onClick={() => setAsked('rotate')}>Rotate</Button>}
      <Button kind="danger" onClick={() => setAsked('revoke')}>
        Revoke
      </Button>
      {asked === 'rotate' && (
        <Confirm
          title="Rotate this key?"
          action="Rotate key"
          busy={rotating.busy}
          problem={rotating.problem}
          onConfirm={rotate}
          onClose={close}
        >
          <p>
            You get a new key with the same name, type and allowlist. It works immediately. The old key works for
            another 24 hours, so you have time to deploy the new one.
          </p>
        </Confirm>
      )}
      {asked === 'revoke' && (
        <Confirm
          title="Revoke this key?"
          action="Revoke key"
          kind="danger"
          busy={revoking.busy}
          problem={revoking.problem}
          onConfirm={revoke}
          onClose={close}
        >
          <p>
            <strong>{nameOf(key)}</strong> stops working immediately, and so do the tokens minted with it. This cannot
            be undone.
          </p>
          {key.id === keyId && (
            <p class="callout warning">You are signed in with this key. Revoking it signs you out.</p>
          )}
        </Confirm>
      )}
      {created?.key && (
        <ShownOnce
          title="Your new key"
          text={created.key}
          label="key"
          onClose={() => {
            setCreated(undefined);
            goTo(linkTo(environment, ['keys', key.id]));
          }}
        >
          {key.id === keyId && (
            <p class="callout warning">Sign in with the new key. The one you are using expires in 24 hours.</p>
          )}
        </ShownOnce>
      )}
    </>
  );
}
