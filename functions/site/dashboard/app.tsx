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
import { LinkEnded } from './links/link-ended.tsx';
import { Links } from './links/links.tsx';
import { Overview } from './overview/overview.tsx';
import { ConfirmEmail } from './settings/confirm-email.tsx';
import { Settings } from './settings/settings.tsx';
import { SignIn } from './settings/sign-in.tsx';
import { Shell } from './shell.tsx';
import { createCall, type Route } from './state/api.ts';
import { canCall, identityOf } from './state/identity.ts';
import type { OpenedLink } from './state/opened-link.ts';
import { rememberedKey } from './state/remembered-key.ts';
import { type Place, usePlace } from './state/router.ts';
import { canOpen, type Secret, SessionContext, useSession } from './state/session.ts';
import { type SignInState, useSignInState } from './state/sign-in-state.ts';
import { Tokens } from './tokens/tokens.tsx';
import { WebhookPage } from './webhooks/webhook.tsx';
import { NewWebhook } from './webhooks/webhook-form.tsx';
import { Webhooks } from './webhooks/webhooks.tsx';

interface AppProps {
  /** The dashboard link that opened the page. */
  opened: OpenedLink | undefined;
}

export function App({ opened }: AppProps) {
  const [section, token = ''] = usePlace().segments;
  return section === 'confirm-email' ? <ConfirmEmail token={token} /> : <Dashboard opened={opened} />;
}

function Dashboard({ opened }: AppProps) {
  const { key, notice, linkEnd, dismissLink, ...actions } = useSignInState(opened);
  if (linkEnd) return <LinkEnded why={linkEnd} onSignIn={dismissLink} />;
  if (!key) return <SignIn notice={notice} onSignIn={actions.signIn} />;
  return <SignedIn as={key} replaced={opened?.replaced} {...actions} />;
}

type SignedInProps = { as: string; replaced: string | undefined } & Pick<
  SignInState,
  'signIn' | 'signOut' | 'onUnauthorized'
>;

/** The dashboard from a sign-in to the sign-out. Its messages and secrets end with it. */
function SignedIn({ as: key, replaced, signIn, signOut, onUnauthorized }: SignedInProps) {
  const [announcement, setAnnouncement] = useState({ text: '', number: 0 });
  const [secrets, setSecrets] = useState<readonly Secret[]>([]);
  const [secret] = secrets;
  const [projectVersion, setProjectVersion] = useState(0);
  const requested = usePlace();
  const identity = useMemo(() => identityOf(key), [key]);
  const { environments } = identity;
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
    const { keyId, shown: shownKey, link } = identity;
    const can = (route: Route) => canCall(identity, route);
    return { call, environment, can, keyId, shownKey, link, replaceKey, announce, reveal, onProjectChange };
  }, [key, identity, environment, signIn, onUnauthorized]);

  return (
    <SessionContext.Provider value={session}>
      <Shell
        place={place}
        environments={environments}
        projectVersion={projectVersion}
        replaced={replaced}
        onSignOut={signOut}
      >
        {canOpen(session, place.segments, place.query.has('new')) ? pageAt(place) : <NotAllowed />}
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

function NotAllowed() {
  const { shownKey, link } = useSession();
  return (
    <>
      <PageTitle>{link ? 'Not available with this link' : 'Not available with this key'}</PageTitle>
      {link ? (
        <p>
          The role {link.role} of your link does not include this page. <Link to={[]}>Go to the overview</Link>.
        </p>
      ) : (
        <p>
          You are signed in with <code>{shownKey}</code>. Keys, settings and the audit log need an admin key.
        </p>
      )}
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
  if (section === 'links') return <Links key={key} />;
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
