import type { KeyType } from '../../../../lib/credentials.ts';
import { printable } from '../../../../lib/printable.ts';
import type { Environment } from '../../../../lib/space.ts';
import { ActionForm } from '../components/action-form.tsx';
import { Badge, ButtonLink, Link, PageTitle, Panel, type Tone } from '../components/basics.tsx';
import { Await, Empty } from '../components/feedback.tsx';
import { Choice, Input } from '../components/field.tsx';
import { type Column, Table } from '../components/table.tsx';
import { fromLocal, HourOr, In, TimeOr } from '../components/time.tsx';
import { all, type Key, type ResponseOf, serverNow } from '../state/api.ts';
import { type Loaded, useForm, useLoaded } from '../state/hooks.ts';
import { KEY_ENVIRONMENTS } from '../state/identity.ts';
import { linkTo, useGoTo } from '../state/router.ts';
import { shownOf, useSession } from '../state/session.ts';
import { LastRejected } from './last-rejected.tsx';

const MEANINGS: Record<KeyType, string> = {
  live: 'Full access to live documents, events and webhooks. For your servers.',
  read: 'Read-only access to all live documents. For your servers, or for public clients if all live documents are public.',
  test: 'Full access to the sandbox. For development.',
  admin: 'Full access to the project, including its API keys. For this dashboard and for operators.',
};
/** Whether keys of a type can be used in an environment. */
export const hasEnvironment = (type: KeyType, environment: Environment): boolean =>
  KEY_ENVIRONMENTS[type].includes(environment);
const typesOf = (environment: Environment): KeyType[] =>
  (Object.keys(MEANINGS) as KeyType[]).filter((type) => hasEnvironment(type, environment));
/** The environment to show a key in: the current one, if the key can be used there. */
export const environmentFor = (type: KeyType, environment: Environment): Environment =>
  hasEnvironment(type, environment) ? environment : KEY_ENVIRONMENTS[type][0];

const TONES: Record<Key['status'], Tone> = { active: 'good', expiring: 'waiting', expired: 'off', revoked: 'off' };
export const KeyStatus = ({ status }: Pick<Key, 'status'>) => <Badge tone={TONES[status]}>{status}</Badge>;
export const nameOf = ({ name, type }: Pick<Key, 'name' | 'type'>): string =>
  printable(name ?? '').trim() || `Unnamed ${type} key`;
export const isUsable = ({ status }: Pick<Key, 'status'>): boolean => status === 'active' || status === 'expiring';

const SOON_MS = 7 * 24 * 60 * 60 * 1000;
/** Whether a usable key expires so soon that its app needs another one. */
export const expiresSoon = ({ status, expires_at }: Pick<Key, 'status' | 'expires_at'>): boolean =>
  status === 'expiring' && expires_at !== null && Date.parse(expires_at) - serverNow() < SOON_MS;

/** The keys of the project, or none if the user cannot read them. */
export function useKeys(): Loaded<Key[]> {
  const { call, can } = useSession();
  return useLoaded('keys', async () => (can('GET /v1/keys') ? all(call, 'GET /v1/keys') : { value: [] }));
}

export function Keys() {
  const { environment } = useSession();
  const loaded = useKeys();
  const generate = (
    <ButtonLink to={['keys', 'new']} kind="primary">
      Generate key
    </ButtonLink>
  );
  return (
    <>
      <PageTitle actions={generate}>Keys</PageTitle>
      <Await of={loaded}>
        {(every) => {
          const keys = every.filter(({ type }) => hasEnvironment(type, environment));
          const usable = keys.filter(isUsable);
          const inactive = keys.filter((key) => !isUsable(key));
          return (
            <>
              {usable.length === 0 ? (
                <Empty action={generate}>No active keys. Generate one for each app that calls the API.</Empty>
              ) : (
                <KeyTable keys={usable} caption="Active keys" endTitle="Expires" />
              )}
              {inactive.length > 0 && (
                <details>
                  <summary>Revoked and expired ({inactive.length})</summary>
                  <KeyTable keys={inactive} caption="Inactive keys" endTitle="Revoked or expired" />
                </details>
              )}
            </>
          );
        }}
      </Await>
    </>
  );
}

function KeyTable({ keys, caption, endTitle }: { keys: Key[]; caption: string; endTitle: string }) {
  const { keyId } = useSession();
  const columns: Column<Key>[] = [
    [
      'Name',
      (key) => (
        <>
          <Link to={['keys', key.id]}>{nameOf(key)}</Link>
          {key.id === keyId && <small> (signed in)</small>}
        </>
      ),
    ],
    ['Key', (key) => <KeyHint of={key} />],
    ['Status', ({ status }) => <KeyStatus status={status} />],
    [
      'Allowlist',
      ({ cidrs }) =>
        cidrs.length === 0 ? (
          <span class="muted">any address</span>
        ) : cidrs.length === 1 ? (
          '1 address'
        ) : (
          `${cidrs.length} addresses`
        ),
    ],
    ['Last used', ({ last_used_at }) => <HourOr at={last_used_at} none="never" />],
    ['Last rejected', (key) => <LastRejected of={key} />],
    [endTitle, (key) => <End of={key} />],
  ];
  return <Table caption={caption} columns={columns} rows={keys} keyOf={({ id }) => id} />;
}

export const KeyHint = ({ of: key }: { of: Key }) => <code>{shownOf(key)}</code>;

function End({ of: { status, expires_at, revoked_at } }: { of: Key }) {
  if (status !== 'expiring' || expires_at === null) return <TimeOr at={revoked_at ?? expires_at} none="never" />;
  return <In to={expires_at} />;
}

export function NewKey() {
  const { call, environment, reveal } = useSession();
  const goTo = useGoTo();
  const types = typesOf(environment);
  const { value, field } = useForm({ type: types[0] ?? 'live', name: '', expires_at: '' });
  const { type, name, expires_at } = value;
  const done = ({ id, key: text }: ResponseOf<'POST /v1/keys'>) =>
    reveal({
      title: 'Your new key',
      text,
      label: 'key',
      ifLost: 'Rotate this key to get a new one.',
      children: <p class="muted">Store it in an environment variable or a secrets manager, not in your code.</p>,
      onClose: () => goTo(linkTo(environment, ['keys', id])),
    });
  return (
    <>
      <PageTitle>Generate key</PageTitle>
      <Panel>
        <ActionForm
          action="Generate"
          act={() =>
            call('POST /v1/keys', { body: { type, name: name || undefined, expires_at: fromLocal(expires_at) } })
          }
          onDone={done}
          others={<ButtonLink to={['keys']}>Cancel</ButtonLink>}
        >
          <Choice
            legend="Type"
            options={types.map((each) => [each, <code>svc_{each}_</code>, MEANINGS[each]] as const)}
            {...field('type')}
          />
          <Input label="Name" hint="Optional. The app that will use this key." {...field('name')} />
          <Input
            label="Expiry"
            hint="Optional, in your local time. Leave empty for a key that never expires."
            type="datetime-local"
            {...field('expires_at')}
          />
        </ActionForm>
      </Panel>
    </>
  );
}
