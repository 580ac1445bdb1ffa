import type { ComponentChildren } from 'preact';
import type { Environment } from '../../../lib/space.ts';
import { Button, Link } from './components/basics.tsx';
import { Icon } from './components/icons.tsx';
import { useKeptFocus } from './components/kept-focus.ts';
import { Finder } from './finder/finder.tsx';
import { LinkBanner } from './links/link-banner.tsx';
import { linkTo, type Place } from './state/router.ts';
import { canOpen, useProject, useSession } from './state/session.ts';

const SECTIONS = [
  ['', 'Overview'],
  ['events', 'Events'],
  ['webhooks', 'Webhooks'],
  ['keys', 'Keys'],
  ['tokens', 'Tokens'],
  ['documents', 'Documents'],
  ['links', 'Links'],
  ['settings', 'Settings'],
] as const;

interface ShellProps {
  place: Place;
  /** The environments that the key can show. */
  environments: readonly Environment[];
  projectVersion: number;
  /** The displayable part of the credential that a link replaced in this tab. */
  replaced: string | undefined;
  onSignOut: () => void;
  children: ComponentChildren;
}

/** What every page has in common: the masthead, the environment and the sections. */
export function Shell({ place, environments, projectVersion, replaced, onSignOut, children }: ShellProps) {
  const { environment, segments } = place;
  const section = segments[0] ?? '';
  const session = useSession();
  const { can, keyId, shownKey, link } = session;
  const project = useProject(projectVersion);
  useKeptFocus();
  return (
    <div class={`shell ${environment}`}>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header class="masthead">
        <div class="top">
          <Link class="brand" to={[]}>
            Document Sync Service
            <small title={`Signed in with ${keyId}`}>
              {project.value ? `${project.value.name} · ${shownKey}` : shownKey}
            </small>
          </Link>
          <Finder />
          {environments.length > 1 && <EnvironmentSwitch of={environments} current={environment} section={section} />}
          <Button kind="quiet" onClick={onSignOut}>
            Sign out
          </Button>
        </div>
        {link && <LinkBanner of={link} replaced={replaced} />}
        {environment === 'sandbox' && (
          <p class="sandbox-banner">
            <strong>Sandbox</strong> You are viewing test data. Live data is not affected.
            {can('GET /v1/keys') && ' Admin keys and settings apply to both environments.'}
          </p>
        )}
      </header>
      <nav class="sections" aria-label="Sections">
        {SECTIONS.filter(([name]) => canOpen(session, [name])).map(([name, title]) => (
          <a
            key={name}
            href={linkTo(environment, name ? [name] : [])}
            aria-current={section === name ? 'page' : undefined}
          >
            <Icon name={name || 'overview'} />
            {title}
          </a>
        ))}
        <a href="docs" target="_blank" rel="noreferrer">
          <Icon name="docs" />
          Docs
        </a>
      </nav>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

const NAMES: Record<Environment, string> = { live: 'Live', sandbox: 'Sandbox' };

interface SwitchProps {
  of: readonly Environment[];
  current: Environment;
  section: string;
}

function EnvironmentSwitch({ of: environments, current, section }: SwitchProps) {
  return (
    <nav class="environments" aria-label="Environment">
      {environments.map((each) => (
        <a
          key={each}
          href={linkTo(each, section ? [section] : [])}
          aria-current={each === current ? 'true' : undefined}
        >
          {NAMES[each]}
        </a>
      ))}
    </nav>
  );
}
