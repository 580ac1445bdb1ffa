import { useState } from 'preact/hooks';
import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import type { Problem, ResponseOf, Webhook } from '../api.ts';
import { Button, ButtonLink, Form, PageTitle, Panel } from '../components/basics.tsx';
import { ShownOnce } from '../components/dialog.tsx';
import { Callout, ProblemNote } from '../components/feedback.tsx';
import { Choices, Input, otherProblem, violationOf } from '../components/field.tsx';
import { useSending } from '../hooks.ts';
import { goTo, linkTo } from '../router.ts';
import { useSession } from '../session.ts';

interface Values {
  url: string;
  events: EventType[];
  description: string;
}

const FIELDS = ['url', 'events', 'description', 'secret'];

interface FieldsProps {
  values: Values;
  onChange: (values: Values) => void;
  problem: Problem | undefined;
}

function WebhookFields({ values, onChange, problem }: FieldsProps) {
  return (
    <>
      <Input
        label="Endpoint URL"
        hint="An https URL on your server that receives the events."
        type="url"
        value={values.url}
        placeholder="https://example.com/webhooks"
        onInput={(url) => onChange({ ...values, url })}
        error={violationOf(problem, 'url')}
      />
      <Choices
        legend="Events"
        type="checkbox"
        options={EVENT_TYPES.map((type) => [type, <code>{type}</code>, EVENT_MEANINGS[type]] as const)}
        chosen={values.events}
        onChange={(events) => onChange({ ...values, events })}
        error={violationOf(problem, 'events')}
      />
      <Input
        label="Description"
        hint="Optional. What this webhook is for."
        value={values.description}
        onInput={(description) => onChange({ ...values, description })}
        error={violationOf(problem, 'description')}
      />
    </>
  );
}

interface SecretProps {
  secret: string | undefined;
  onChange: (secret: string | undefined) => void;
  error: string | undefined;
}

/** A custom secret with fewer characters can be guessed. */
const SHORT_SECRET = 24;

/** Chooses between a generated and a custom secret. */
export function SecretFields({ secret, onChange, error }: SecretProps) {
  return (
    <>
      <Choices
        legend="Signing secret"
        type="radio"
        options={[
          ['generated', 'Generate one', '32 random bytes, shown once.'],
          ['own', 'Use my own', 'A secret that your endpoint already has.'],
        ]}
        chosen={[secret === undefined ? 'generated' : 'own']}
        onChange={([chosen]) => onChange(chosen === 'own' ? '' : undefined)}
      />
      {secret !== undefined && (
        <>
          <Input label="Secret" value={secret} onInput={onChange} error={error} />
          {secret.length > 0 && secret.length < SHORT_SECRET && (
            <Callout kind="warning">
              A secret with fewer than {SHORT_SECRET} characters can be guessed. Anyone who knows it can forge events.
            </Callout>
          )}
        </>
      )}
    </>
  );
}

export function NewWebhook() {
  const { call, environment } = useSession();
  const [values, setValues] = useState<Values>({ url: '', events: [], description: '' });
  const [secret, setSecret] = useState<string>();
  const [created, setCreated] = useState<ResponseOf<'POST /v1/webhooks'>>();
  const { url, events, description } = values;
  const sending = useSending(() =>
    call('POST /v1/webhooks', { body: { url: url.trim(), events, secret, description: description || null } }),
  );
  const open = (id: string) => goTo(linkTo(environment, ['webhooks', id]));
  const submit = async () => {
    const webhook = await sending.send();
    if (webhook && secret !== undefined) open(webhook.id);
    else setCreated(webhook);
  };
  return (
    <>
      <PageTitle>Create Webhook</PageTitle>
      <Panel>
        <Form onSubmit={submit}>
          <WebhookFields values={values} onChange={setValues} problem={sending.problem} />
          <SecretFields secret={secret} onChange={setSecret} error={violationOf(sending.problem, 'secret')} />
          <ProblemNote problem={otherProblem(sending.problem, FIELDS)} />
          <div class="actions">
            <Button type="submit" kind="primary" busy={sending.busy}>
              Save
            </Button>
            <ButtonLink href={linkTo(environment, ['webhooks'])}>Cancel</ButtonLink>
          </div>
        </Form>
      </Panel>
      {created?.secret && (
        <ShownOnce title="Signing secret" text={created.secret} label="secret" onClose={() => open(created.id)}>
          <p class="muted">Use it on your endpoint to verify the X-Service-Signature header.</p>
        </ShownOnce>
      )}
    </>
  );
}

/** Edits everything a webhook was created with except its secret, which is rotated instead. */
export function EditWebhook({ of: webhook, onDone }: { of: Webhook; onDone: () => void }) {
  const { call, announce } = useSession();
  const [values, setValues] = useState<Values>({
    url: webhook.url,
    events: webhook.events,
    description: webhook.description ?? '',
  });
  const { url, events, description } = values;
  const sending = useSending(() =>
    call('PATCH /v1/webhooks/{id}', {
      path: { id: webhook.id },
      body: { url: url.trim(), events, description: description || null },
    }),
  );
  const submit = async () => {
    if (!(await sending.send())) return;
    announce('Webhook updated.');
    onDone();
  };
  return (
    <Panel title="Endpoint and events">
      <Form onSubmit={submit}>
        <WebhookFields values={values} onChange={setValues} problem={sending.problem} />
        <ProblemNote problem={otherProblem(sending.problem, FIELDS)} />
        <div class="actions">
          <Button type="submit" kind="primary" busy={sending.busy}>
            Save
          </Button>
        </div>
      </Form>
    </Panel>
  );
}
