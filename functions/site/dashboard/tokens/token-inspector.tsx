import { useState } from 'preact/hooks';
import { isDocumentKey } from '../../../../lib/documents/patterns.ts';
import { visible } from '../../../../lib/printable.ts';
import { Badge, Button, Facts, Link, Panel } from '../components/basics.tsx';
import { Input, TextArea } from '../components/field.tsx';
import { In, Time } from '../components/time.tsx';
import { useNow } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';
import { decodeToken, reachOf, type TokenClaims } from './token.ts';

/** Shows the content of a pasted token and tests it against document keys. The token does not leave the browser. */
export function TokenInspector({ onRevoke }: { onRevoke: (tokenId: string) => void }) {
  const [text, setText] = useState('');
  const decoded = text.trim() === '' ? undefined : decodeToken(text);
  const claims = decoded && 'claims' in decoded ? decoded.claims : undefined;
  return (
    <Panel title="Inspect a token">
      <TextArea
        label="Token"
        hint="The token stays in this browser. Only the service can verify its signature."
        value={text}
        placeholder="eyJhbGciOiJIUzI1NiIs…"
        onInput={setText}
        error={decoded && 'problem' in decoded ? decoded.problem : undefined}
      />
      {claims && <Claims of={claims} onRevoke={onRevoke} />}
    </Panel>
  );
}

function Claims({ of: claims, onRevoke }: { of: TokenClaims; onRevoke: (tokenId: string) => void }) {
  const [documentKey, setDocumentKey] = useState('');
  const now = useNow();
  const { isAdmin } = useSession();
  const key = documentKey.trim();
  const { tokenId, keyId, documents, permissions, user, issuedAt, expiresAt } = claims;
  const expires = new Date(expiresAt).toISOString();
  const id = <code>{visible(keyId)}</code>;
  return (
    <>
      <Facts>
        {[
          [
            'Expires',
            expiresAt <= now ? (
              <>
                <Badge tone="off">expired</Badge> <Time at={expires} />
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
            isAdmin ? (
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
      <div class="actions spaced">
        <Button kind="danger" onClick={() => onRevoke(tokenId)}>
          Revoke this token
        </Button>
      </div>
      <Input
        label="Document key"
        hint="Shows whether the token can read and write this document, and why."
        value={documentKey}
        placeholder="org:acme:doc-1"
        onInput={setDocumentKey}
        error={key !== '' && !isDocumentKey(key) ? 'is not valid' : undefined}
      />
      {isDocumentKey(key) && (
        <Facts>
          {(['read', 'write'] as const).map((permission) => {
            const { isAllowed, reason } = reachOf(claims, permission, key, now);
            return [
              permission === 'read' ? 'Can read' : 'Can write',
              <>
                <Badge tone={isAllowed ? 'good' : 'bad'}>{isAllowed ? 'yes' : 'no'}</Badge> {visible(reason)}
              </>,
            ];
          })}
        </Facts>
      )}
    </>
  );
}
