import { useLayoutEffect, useState } from 'preact/hooks';
import { type Fact, Facts, Link, PageTitle, Panel } from '../components/basics.tsx';
import { Id } from '../components/copyable.tsx';
import { Callout, ItemPage } from '../components/feedback.tsx';
import { Countdown, HourOr, Time, TimeOr } from '../components/time.tsx';
import { LatestChanges } from '../settings/audit.tsx';
import type { Key } from '../state/api.ts';
import { linkTo, replaceBy } from '../state/router.ts';
import { useRead, useSession } from '../state/session.ts';
import { AllowlistEditor } from './allowlist.tsx';
import { KeyActions } from './key-actions.tsx';
import { KeyUsage } from './key-usage.tsx';
import { environmentFor, expiresSoon, isUsable, KeyHint, KeyStatus, nameOf } from './keys.tsx';
import { LastRejected } from './last-rejected.tsx';

export function KeyPage({ id }: { id: string }) {
  const [version, setVersion] = useState(0);
  const loaded = useRead('GET /v1/keys/{key}', { path: { key: id } }, version);
  const reload = () => setVersion((last) => last + 1);
  return (
    <ItemPage section="keys" title="Keys" of={loaded}>
      {(key) => (
        <>
          <OwnEnvironment of={key} />
          <PageTitle actions={isUsable(key) && <KeyActions of={key} onChange={reload} />}>{nameOf(key)}</PageTitle>
          <Handover of={key} />
          <Panel>
            <KeyFacts of={key} />
          </Panel>
          <KeyUsage id={key.id} />
          {isUsable(key) && <AllowlistEditor key={key.id} of={key} onSaved={reload} />}
          <LatestChanges of={key.id} version={version} />
        </>
      )}
    </ItemPage>
  );
}

/** Opens the key in an environment where it can be used, because the sandbox promises that live data is not affected. */
function OwnEnvironment({ of: { id, type } }: { of: Key }) {
  const { environment } = useSession();
  const own = environmentFor(type, environment);
  useLayoutEffect(() => {
    if (own !== environment) replaceBy(linkTo(own, ['keys', id]));
  }, [own, environment, id]);
  return null;
}

/** The successor of a rotated key, when the key expires, and what to do before. */
function Handover({ of: key }: { of: Key }) {
  if (key.status === 'revoked') return null;
  const successor = key.replaced_by && <Link to={['keys', key.replaced_by]}>the new key</Link>;
  if (!expiresSoon(key) || !key.expires_at) return successor && <Callout kind="info">Replaced by {successor}.</Callout>;
  return (
    <Callout kind="warning">
      {successor && <>Replaced by {successor}. </>}
      This key expires on <Time at={key.expires_at} />. Time left:{' '}
      <Countdown to={key.expires_at} over="none, it has expired" />.{' '}
      {successor ? (
        'Deploy the new key, then revoke this one.'
      ) : (
        <>
          Rotating it keeps this expiry. To continue after it, deploy <Link to={['keys', 'new']}>another key</Link>.
        </>
      )}
    </Callout>
  );
}

function KeyFacts({ of: key }: { of: Key }) {
  const linked = (id: string) => <Link to={['keys', id]}>{id}</Link>;
  return (
    <Facts>
      {[
        ['Key', <KeyHint key="key" of={key} />],
        ['ID', <Id key="id" of={key.id} />],
        ['Status', <KeyStatus key="status" status={key.status} />],
        ['Created', <Time key="created" at={key.created_at} />],
        ['Last used', <HourOr key="used" at={key.last_used_at} none="never" />],
        ['Last rejected', <LastRejected key="rejected" of={key} />],
        key.revoked_at
          ? ['Revoked', <Time key="revoked" at={key.revoked_at} />]
          : ['Expires', <TimeOr key="expires" at={key.expires_at} none="never" />],
        ...(key.replaces ? [['Replaces', linked(key.replaces)] as Fact] : []),
      ]}
    </Facts>
  );
}
