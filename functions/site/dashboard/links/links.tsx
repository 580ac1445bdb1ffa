import type { Role } from '../../../../lib/credentials.ts';
import { ActionForm } from '../components/action-form.tsx';
import { PageTitle, Panel } from '../components/basics.tsx';
import { Choice, Input, Select } from '../components/field.tsx';
import { Time } from '../components/time.tsx';
import type { ResponseOf } from '../state/api.ts';
import { useForm } from '../state/hooks.ts';
import { ROLE_NAMES } from '../state/identity.ts';
import { useSession } from '../state/session.ts';

const ROLES: [Role, string, string][] = [
  ['viewer', ROLE_NAMES.viewer, 'Reads webhooks, deliveries, events and documents.'],
  ['editor', ROLE_NAMES.editor, 'Also creates, changes and deletes webhooks, sends tests, redelivers and recovers.'],
];
const LIFETIMES = [
  ['900', '15 minutes'],
  ['3600', '1 hour'],
  ['28800', '8 hours'],
  ['86400', '24 hours'],
] as const;

/** Creates links to the dashboard. The service does not store them. */
export function Links() {
  const { call, reveal, environment } = useSession();
  const { value, set, field } = useForm({ role: 'viewer' as Role, expires_in: '3600', user: '' });
  const done = ({ url, expires_at }: ResponseOf<'POST /v1/dashboard-links'>) => {
    set({ ...value, user: '' });
    reveal({
      title: 'Your new link',
      text: url,
      label: 'link',
      ifLost: 'Create another one.',
      children: (
        <p class="muted">
          Whoever has it can use it until <Time at={expires_at} />. Give it only to one person.
        </p>
      ),
    });
  };
  return (
    <>
      <PageTitle>Links</PageTitle>
      <p class="muted">
        A link opens this dashboard for a person without a key, for a limited time and in one environment. The service
        does not store links, so this page cannot list them.{' '}
        <a href="docs/dashboard-links" target="_blank" rel="noreferrer">
          Create links in your own product
        </a>
        .
      </p>
      <Panel title={`Create a link to the ${environment} environment`}>
        <ActionForm
          action="Create link"
          act={() =>
            call('POST /v1/dashboard-links', {
              body: { ...value, expires_in: Number(value.expires_in), user: value.user.trim() || undefined },
            })
          }
          onDone={done}
        >
          <Choice legend="Role" options={ROLES} {...field('role')} />
          <Select
            label="Lifetime"
            name="expires_in"
            value={value.expires_in}
            options={LIFETIMES}
            onChange={(expires_in) => set({ ...value, expires_in })}
          />
          <Input
            label="User"
            hint="Optional. The person who receives the link, in your terms. The audit log shows it."
            placeholder="ann@example.com"
            {...field('user')}
          />
          <p class="hint">
            The link ends earlier if the key that you are signed in with is revoked, or expires after a rotation. It
            works from every address.
          </p>
        </ActionForm>
      </Panel>
    </>
  );
}
