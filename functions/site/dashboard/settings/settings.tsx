import { useLayoutEffect, useState } from 'preact/hooks';
import { VERSION } from '../../../../lib/version.ts';
import { ActionForm } from '../components/action-form.tsx';
import { Button, Facts, PageTitle, Panel } from '../components/basics.tsx';
import { Id } from '../components/copyable.tsx';
import { Await, Callout, ProblemNote, RestoredDraft } from '../components/feedback.tsx';
import { Input } from '../components/field.tsx';
import type { ResponseOf } from '../state/api.ts';
import { useDraft, useSending } from '../state/hooks.ts';
import { useRead, useSession } from '../state/session.ts';
import { Audit } from './audit.tsx';
import { isSilent, Unconfirmed, unconfirmedIn } from './unconfirmed.tsx';
import { Undeliverable } from './undeliverable.tsx';

type Project = ResponseOf<'GET /v1/project'>;

/** The project and its audit log. */
export function Settings({ query }: { query: URLSearchParams }) {
  const project = useRead('GET /v1/project', {});
  return (
    <>
      <PageTitle>Settings</PageTitle>
      <Await of={project}>
        {(loaded) => (
          <>
            <Panel title="Project">
              {isSilent(loaded) && (
                <Callout kind="error">
                  No address of this project receives notifications, for example about failing webhooks.
                </Callout>
              )}
              {loaded.undeliverable_emails.map((each) => (
                <Undeliverable key={each.email} of={each} onConfirm={project.reload} />
              ))}
              {unconfirmedIn(loaded).map((each) => (
                <Unconfirmed key={each.email} of={each} onSend={project.reload} />
              ))}
              <ProjectForm of={loaded} onSave={project.reload} />
            </Panel>
            <Panel title="Details">
              <Facts>
                {[
                  ['ID', <Id key="id" of={loaded.id} />],
                  ['Source addresses of deliveries', <SourceAddresses key="addresses" of={loaded} />],
                ]}
              </Facts>
            </Panel>
            <Audit query={query} />
          </>
        )}
      </Await>
      <p class="muted">
        Document Sync Service {VERSION} · <a href="docs/changelog">Changelog</a>
      </p>
    </>
  );
}

function SourceAddresses({ of: { source_addresses } }: { of: Project }) {
  if (source_addresses.length > 0) return <code>{source_addresses.join(', ')}</code>;
  return (
    <>
      They change. <a href="docs/receiving#source-addresses">Verify the signatures instead</a>
    </>
  );
}

const addressesIn = (text: string): string[] =>
  text
    .split(',')
    .map((address) => address.trim())
    .filter(Boolean);

function ProjectForm({ of: loaded, onSave }: { of: Project; onSave(): void }) {
  const { call, announce, onProjectChange } = useSession();
  const [project, setProject] = useState(loaded); // after a change its response, until the reload
  useLayoutEffect(() => setProject(loaded), [loaded]);
  const draft = useDraft<Partial<Record<'name' | 'emails', string>>>('project', {});
  const saved = { name: project.name, emails: project.emails.join(', ') };
  const { name, emails } = { ...saved, ...draft.value };
  // The request contains only edited fields, so that it does not overwrite the changes of another admin.
  const body = {
    name: name === saved.name ? undefined : name,
    emails: emails === saved.emails ? undefined : addressesIn(emails),
  };
  const testing = useSending(() => call('POST /v1/project/test-mail', {}));
  const test = async () => {
    const sent = await testing.send();
    if (sent) announce(`A test email is on its way to ${sent.emails.join(', ')}.`);
  };
  return (
    <ActionForm
      action="Save"
      act={() => call('PATCH /v1/project', { body })}
      announcement="Settings saved."
      onDone={(changed) => {
        setProject(changed);
        draft.saved({});
        onProjectChange();
        onSave();
      }}
      others={
        <Button onClick={test} busy={testing.busy}>
          Send test email
        </Button>
      }
    >
      <RestoredDraft of={draft} />
      <Input label="Name" {...draft.field('name')} value={name} />
      <Input
        label="Email addresses"
        hint="One to five, separated by commas. They receive an email when a webhook is failing or disabled, and when an admin key or these addresses change. A new address first receives a link that confirms it."
        entries={addressesIn(emails)}
        {...draft.field('emails')}
        value={emails}
      />
      <ProblemNote problem={testing.problem} />
    </ActionForm>
  );
}
