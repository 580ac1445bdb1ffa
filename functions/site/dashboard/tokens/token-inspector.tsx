import { useState } from 'preact/hooks';
import { isDocumentKey } from '../../../../lib/documents/patterns.ts';
import { visible } from '../../../../lib/printable.ts';
import { Badge, Button, Facts, Link, Panel } from '../components/basics.tsx';
import { Await } from '../components/feedback.tsx';
import { Input, TextArea } from '../components/field.tsx';
import { In, Time } from '../components/time.tsx';
import { useNow } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';
import { type Standing, useStanding, whyInactive } from './standing.ts';
import { decodeToken, reachOf, type TokenClaims } from './token.ts';

interface InspectorProps {
  onRevoke: (tokenId: string) => void;
  /** The number of tokens that were revoked on this page. */
  version: number;
}

/** Shows whether a pasted token works and what it contains, and tests it against document keys. */
export function TokenInspector({ onRevoke, version }: InspectorProps) {
  const [text, setText] = useState('');
  const decoded = text.trim() === '' ? undefined : decodeToken(text);
  const claims = decoded && 'claims' in decoded ? decoded.claims : undefined;
  return (
    <Panel title="Inspect a token">
      <TextArea
        label="Token"
        hint="Only this service receives it, to say whether the token works."
        value={text}
        placeholder="eyJhbGciOiJFZERTQSIs…"
        onInput={setText}
        error={decoded && 'problem' in decoded ? decoded.problem : undefined}
      />
      {claims && <Claims token={text.trim()} of={claims} onRevoke={onRevoke} version={version} />}
    </Panel>
  );
}

function Claims({ token, of: claims, onRevoke, version }: InspectorProps & { token: string; of: TokenClaims }) {
  const [documentKey, setDocumentKey] = useState('');
  const now = useNow();
  const standing = useStanding(token, claims, now, version);
  const { can } = useSession();
  const key = documentKey.trim();
  const { tokenId, keyId, documents, permissions, user, issuedAt, expiresAt } = claims;
  const expires = new Date(expiresAt).toISOString();
  const id = <code>{visible(keyId)}</code>;
  return (
    <>
      <Facts>
        {[
          [
            'Status',
            <Await key="status" of={standing}>
              {(value) => (
                <output>
                  {value.isActive ? (
                    <Badge tone="good">active</Badge>
                  ) : (
                    <>
                      <Badge tone="bad">not active</Badge> {visible(whyInactive(claims, value, now))}
                    </>
                  )}
                </output>
              )}
            </Await>,
          ],
          [
            'Expires',
            expiresAt <= now ? (
              <>
                expired, <Time at={expires} />
              </>
            ) : (
              <>
                <In to={expires} />, <Time at={expires} />
              </>
            ),
          ],
          ['Created', <Time key="created" at={new Date(issuedAt).toISOString()} />],
          ['Permissions', permissions.map(visible).join(', ')],
          ['User', user === undefined ? 'none' : visible(user)],
          ['Environment', visible(claims.environment)],
          [
            'Key',
            can('GET /v1/keys/{key}') ? (
              <Link key="key" to={['keys', keyId]}>
                {id}
              </Link>
            ) : (
              id
            ),
          ],
          ['Token id', <code key="id">{visible(tokenId)}</code>],
          [
            'Documents',
            <ul key="documents" class="tags">
              {documents.map((pattern) => (
                <li key={pattern}>
                  <code>{visible(pattern)}</code>
                </li>
              ))}
            </ul>,
          ],
        ]}
      </Facts>
      {can('POST /v1/tokens/{token_id}/revoke') && (
        <div class="actions spaced">
          <Button kind="danger" onClick={() => onRevoke(tokenId)}>
            Revoke this token
          </Button>
        </div>
      )}
      <Input
        label="Document key"
        hint="Shows whether the token can read and write this document, and why."
        value={documentKey}
        placeholder="org:acme:doc-1"
        onInput={setDocumentKey}
        error={key !== '' && !isDocumentKey(key) ? 'is not valid' : undefined}
      />
      {isDocumentKey(key) && standing.value && (
        <Facts>
          {(['read', 'write'] as const).map((permission) => {
            const { isActive, key: parent } = standing.value as Standing;
            const { isAllowed, reason } = reachOf(claims, isActive, permission, key);
            return [
              permission === 'read' ? 'Can read' : 'Can write',
              <>
                <Badge tone={isAllowed ? 'good' : 'bad'}>{isAllowed ? 'yes' : 'no'}</Badge> {visible(reason)}
                {isAllowed &&
                  parent &&
                  parent.cidrs.length > 0 &&
                  ' Only from the addresses on the allowlist of its key.'}
              </>,
            ];
          })}
        </Facts>
      )}
    </>
  );
}
