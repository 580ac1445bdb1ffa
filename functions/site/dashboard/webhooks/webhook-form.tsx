import { useState } from 'preact/hooks';
import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from '../../../../lib/events/types.ts';
import { MAX_PER_SECOND } from '../../../../lib/webhooks/rate.ts';
import { ActionForm } from '../components/action-form.tsx';
import { ButtonLink, PageTitle, Panel } from '../components/basics.tsx';
import { RestoredDraft } from '../components/feedback.tsx';
import { Choices, Input, TextArea } from '../components/field.tsx';
import { violationIn, violationOf } from '../components/violations.ts';
import type { Problem, ResponseOf, Result, Webhook } from '../state/api.ts';
import { useDraft } from '../state/hooks.ts';
import { goTo, linkTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { SecretFields, SecretShown } from './secret-fields.tsx';
import { headersOf, headerText, hiddenIn, limitOf, limitText, linesOf } from './webhook-text.ts';

interface Values {
  url: string;
  events: EventType[];
  description: string;
  /** One pattern per line. */
  documents: string;
  /** One header per line. */
  headers: string;
  /** Attempts per second, or empty. */
  limit: string;
}

const FIELDS = ['url', 'events', 'description', 'documents', 'headers', 'max_per_second', 'secret'];

/** The fields that both kinds of requests send. */
const bodyOf = ({ url, events, description, documents, limit }: Values) => ({
  url: url.trim(),
  events,
  description: description || null,
  documents: linesOf(documents),
  max_per_second: limitOf(limit),
});

interface FieldsProps {
  values: Values;
  onChange: (values: Values) => void;
  problem: Problem | undefined;
  /** The headers before the edit. */
  saved?: string;
}

function WebhookFields({ values, onChange, problem, saved = '' }: FieldsProps) {
  const [isUsed] = useState(values.documents !== '' || values.headers !== '' || values.limit !== '');
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
        all="All events"
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
      <details open={isUsed}>
        <summary>Documents, headers and rate limit</summary>
        <TextArea
          label="Documents"
          hint={
            <>
              Optional. Only events of documents that match one of these patterns, one per line, such as{' '}
              <code>org:acme:*</code>.
            </>
          }
          value={values.documents}
          onInput={(documents) => onChange({ ...values, documents })}
          error={violationIn(problem, 'documents')}
        />
        <TextArea
          label="Custom headers"
          hint="Optional. Sent with every request, one per line, as in “X-Tenant: acme”. Values are hidden once they are saved."
          value={values.headers}
          onInput={(headers) => onChange({ ...values, headers })}
          error={violationIn(problem, 'headers') ?? hiddenIn(values.headers, saved)}
        />
        <Input
          label="Requests per second"
          hint={`Optional. At most this many requests per second to your endpoint, from 1 to ${MAX_PER_SECOND}. Further deliveries wait.`}
          value={values.limit}
          onInput={(limit) => onChange({ ...values, limit })}
          error={violationOf(problem, 'max_per_second')}
        />
      </details>
    </>
  );
}

export function NewWebhook() {
  const { call, environment } = useSession();
  const draft = useDraft<Values>(`${environment} new webhook`, {
    url: '',
    events: [],
    description: '',
    documents: '',
    headers: '',
    limit: '',
  });
  const [secret, setSecret] = useState<string>();
  const [created, setCreated] = useState<ResponseOf<'POST /v1/webhooks'>>();
  const open = (id: string) => goTo(linkTo(environment, ['webhooks', id]));
  const done = (webhook: ResponseOf<'POST /v1/webhooks'>) => {
    draft.discard();
    if (secret !== undefined) open(webhook.id);
    else setCreated(webhook);
  };
  return (
    <>
      <PageTitle>Create Webhook</PageTitle>
      <Panel>
        <ActionForm
          action="Save"
          act={() =>
            call('POST /v1/webhooks', {
              body: { ...bodyOf(draft.value), headers: headersOf(draft.value.headers), secret },
            })
          }
          onDone={done}
          fields={FIELDS}
          others={
            <ButtonLink href={linkTo(environment, ['webhooks'])} onClick={draft.discard}>
              Cancel
            </ButtonLink>
          }
        >
          {(problem) => (
            <>
              <RestoredDraft of={draft} />
              <WebhookFields values={draft.value} onChange={draft.set} problem={problem} />
              <SecretFields secret={secret} onChange={setSecret} error={violationOf(problem, 'secret')} />
            </>
          )}
        </ActionForm>
      </Panel>
      {created && <SecretShown title="Signing secret" secret={created.secret} onClose={() => open(created.id)} />}
    </>
  );
}

/** Edits everything a webhook was created with except its secret, which is rotated instead. */
export function EditWebhook({ of: webhook, onDone }: { of: Webhook; onDone: () => void }) {
  const { call, announce } = useSession();
  const saved = headerText(webhook.headers);
  const draft = useDraft<Values>(webhook.id, {
    url: webhook.url,
    events: webhook.events,
    description: webhook.description ?? '',
    documents: webhook.documents.join('\n'),
    headers: saved,
    limit: limitText(webhook.max_per_second),
  });
  const { value: values, set: setValues } = draft;
  const { headers } = values;
  const save = async (): Promise<Result<Webhook>> => {
    const hidden = hiddenIn(headers, saved);
    if (hidden !== undefined) return { problem: { code: 'invalid_request', status: 0, detail: hidden, errors: [] } };
    return call('PATCH /v1/webhooks/{id}', {
      path: { id: webhook.id },
      body: { ...bodyOf(values), ...(headers !== saved && { headers: headersOf(headers) }) },
    });
  };
  return (
    <Panel title="Endpoint and events">
      <ActionForm
        action="Save"
        act={save}
        onDone={() => {
          draft.discard();
          announce('Webhook updated.');
          onDone();
        }}
        fields={FIELDS}
      >
        {(problem) => (
          <>
            <RestoredDraft of={draft} />
            <WebhookFields values={values} onChange={setValues} problem={problem} saved={saved} />
          </>
        )}
      </ActionForm>
    </Panel>
  );
}
