import { useMemo, useState } from 'preact/hooks';
import { Link, PageTitle } from './components/basics.tsx';
import { ShownOnce } from './components/dialog.tsx';
import { DeliveryPage } from './deliveries/delivery.tsx';
import { DocumentPage } from './documents/document.tsx';
import { NewDocument } from './documents/document-editor.tsx';
import { Documents } from './documents/documents.tsx';
import { EventPage } from './events/event.tsx';
import { Events } from './events/events.tsx';
import { KeyPage } from './keys/key.tsx';
import { Keys, NewKey } from './keys/keys.tsx';
import { Overview } from './overview/overview.tsx';
import { ConfirmEmail } from './settings/confirm-email.tsx';
import { Settings } from './settings/settings.tsx';
import { SignIn } from './settings/sign-in.tsx';
import { Shell } from './shell.tsx';
import { createCall } from './state/api.ts';
import { rememberedKey } from './state/remembered-key.ts';
import { type Place, usePlace } from './state/router.ts';
import {
  canOpen,
  environmentsOf,
  keyIdOf,
  keyTypeOf,
  type Secret,
  SessionContext,
  useSession,
} from './state/session.ts';
import { type SignInState, useSignInState } from './state/sign-in-state.ts';
import { Tokens } from './tokens/tokens.tsx';
import { WebhookPage } from './webhooks/webhook.tsx';
import { NewWebhook } from './webhooks/webhook-form.tsx';
import { Webhooks } from './webhooks/webhooks.tsx';

export function App() {
  const [section, token = ''] = usePlace().segments;
  return section === 'confirm-email' ? <ConfirmEmail token={token} /> : <Dashboard />;
}

function Dashboard() {
  const { key, notice, ...actions } = useSignInState();
  if (!key) return <SignIn notice={notice} onSignIn={actions.signIn} />;
  return <SignedIn as={key} {...actions} />;
}

type SignedInProps = { as: string } & Omit<SignInState, 'key' | 'notice'>;

/** The dashboard from a sign-in to the sign-out. Its messages and secrets end with it. */
function SignedIn({ as: key, signIn, signOut, onUnauthorized }: SignedInProps) {
  const [announcement, setAnnouncement] = useState({ text: '', number: 0 });
  const [secrets, setSecrets] = useState<readonly Secret[]>([]);
  const [secret] = secrets;
  const [projectVersion, setProjectVersion] = useState(0);
  const requested = usePlace();
  const environments = environmentsOf(key);
  const environment = environments.includes(requested.environment) ? requested.environment : environments[0];
  const place = { ...requested, environment };
  const session = useMemo(() => {
    const announce = (text: string) => setAnnouncement(({ number }) => ({ text, number: number + 1 }));
    const reveal = (secret: Secret) => setSecrets((all) => [...all, secret]);
    const onProjectChange = () => setProjectVersion((last) => last + 1);
    const call = createCall(key, environment, () => onUnauthorized(key));
    const replaceKey = (next: string) => {
      if (rememberedKey() === key) signIn(next); // the user may have signed out during the rotation
    };
    const type = keyTypeOf(key);
    const shownKey = `svc_${type}_…${key.slice(-4)}`;
    const isAdmin = type === 'admin';
    return { call, environment, isAdmin, keyId: keyIdOf(key), shownKey, replaceKey, announce, reveal, onProjectChange };
  }, [key, environment, signIn, onUnauthorized]);

  return (
    <SessionContext.Provider value={session}>
      <Shell place={place} environments={environments} projectVersion={projectVersion} onSignOut={signOut}>
        {canOpen(session, place.segments[0]) ? pageAt(place) : <NeedsAdmin />}
      </Shell>
      {secret && (
        <ShownOnce
          key={secret.text}
          {...secret}
          onClose={() => {
            setSecrets((all) => all.slice(1));
            secret.onClose?.();
          }}
        />
      )}
      <output class="announcement">
        {announcement.text && <span key={announcement.number}>{announcement.text}</span>}
      </output>
    </SessionContext.Provider>
  );
}

function NeedsAdmin() {
  const { shownKey } = useSession();
  return (
    <>
      <PageTitle>Not available with this key</PageTitle>
      <p>
        You are signed in with <code>{shownKey}</code>. Keys, settings and the audit log need an admin key.
      </p>
    </>
  );
}

/** The key makes every place a page with its own state, so that nothing typed into one shows up in another. */
function pageAt({ environment, segments, query }: Place) {
  const [section, id = '', part, event = ''] = segments;
  const key = [environment, ...segments].join('/');
  if (section === undefined) return <Overview key={key} />;
  if (section === 'keys') {
    if (id === '') return <Keys key={key} />;
    return id === 'new' ? <NewKey key={key} /> : <KeyPage key={key} id={id} />;
  }
  if (section === 'webhooks') {
    if (id === '') return <Webhooks key={key} query={query} />;
    if (id === 'new') return <NewWebhook key={key} />;
    if (part === 'deliveries' && event) return <DeliveryPage key={key} webhookId={id} eventId={event} />;
    return <WebhookPage key={`${environment}/${id}`} id={id} tab={part} query={query} />;
  }
  if (section === 'events') {
    if (id === '') return <Events key={key} query={query} />;
    return <EventPage key={key} id={id} open={query.get('delivery') ?? ''} />;
  }
  if (section === 'tokens') return <Tokens key={key} />;
  if (section === 'settings') return <Settings key={key} query={query} />;
  if (section === 'documents') {
    if (id !== '') return <DocumentPage key={key} documentKey={id} />;
    // Not a path: any word can be the key of a document.
    return query.has('new') ? <NewDocument key={`${key}/new`} /> : <Documents key={key} query={query} />;
  }
  return (
    <>
      <PageTitle>Not found</PageTitle>
      <p>
        This page does not exist. <Link to={[]}>Go to the overview</Link>.
      </p>
    </>
  );
}
