import { useState } from 'preact/hooks';
import { ActionForm } from '../components/action-form.tsx';
import { ButtonLink, PageTitle, Panel } from '../components/basics.tsx';
import { RestoredDraft } from '../components/feedback.tsx';
import type { Problem, ResponseOf, Result, Webhook } from '../state/api.ts';
import { useDraft } from '../state/hooks.ts';
import { linkTo, useGoTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { SecretFields, signingSecret } from './secret-fields.tsx';
import { type Values, WebhookFields } from './webhook-fields.tsx';
import { headersOf, headerText, limitOf, limitText, linesOf, problemIn } from './webhook-text.ts';

const bodyOf = ({ url, events, description, documents, headers, max_per_second }: Values) => ({
  url: url.trim(),
  events,
  description: description || null,
  documents: linesOf(documents),
  max_per_second: limitOf(max_per_second),
  headers: headersOf(headers),
});

/** The problem of headers that cannot be sent. Their field shows it. */
function unsendable(headers: string, saved?: string): { problem: Problem } | undefined {
  const detail = problemIn(headers, saved);
  return detail === undefined ? undefined : { problem: { code: 'invalid_request', status: 0, detail, errors: [] } };
}

export function NewWebhook() {
  const { call, environment, reveal } = useSession();
  const goTo = useGoTo();
  const draft = useDraft<Values>(`${environment} new webhook`, {
    url: '',
    events: [],
    description: '',
    documents: '',
    headers: '',
    max_per_second: '',
  });
  const [secret, setSecret] = useState<string>();
  const done = (created: ResponseOf<'POST /v1/webhooks'>) => {
    draft.discard();
    const onClose = () => goTo(linkTo(environment, ['webhooks', created.id]));
    if (secret !== undefined) onClose();
    else reveal({ ...signingSecret('Signing secret', created.secret), onClose });
  };
  return (
    <>
      <PageTitle>Create Webhook</PageTitle>
      <Panel>
        <ActionForm
          action="Save"
          act={async () =>
            unsendable(draft.value.headers) ?? call('POST /v1/webhooks', { body: { ...bodyOf(draft.value), secret } })
          }
          onDone={done}
          others={
            <ButtonLink to={['webhooks']} onClick={draft.discard}>
              Cancel
            </ButtonLink>
          }
        >
          <RestoredDraft of={draft} />
          <WebhookFields of={draft} />
          <SecretFields secret={secret} onChange={setSecret} />
        </ActionForm>
      </Panel>
    </>
  );
}

/** Edits everything a webhook was created with except its secret, which is rotated instead. */
export function EditWebhook({ of: loaded, onDone }: { of: Webhook; onDone: () => void }) {
  const { call } = useSession();
  const [changed, setChanged] = useState(loaded);
  const webhook = changed.updated_at > loaded.updated_at ? changed : loaded; // the response, until the reload arrives
  const saved: Values = {
    url: webhook.url,
    events: webhook.events,
    description: webhook.description ?? '',
    documents: webhook.documents.join('\n'),
    headers: headerText(webhook.headers),
    max_per_second: limitText(webhook.max_per_second),
  };
  // The draft and the request contain only edited fields, so that they do not overwrite the changes of others.
  const draft = useDraft<Partial<Values>>(webhook.id, {});
  const value = { ...saved, ...draft.value };
  const save = async (): Promise<Result<Webhook>> => {
    const problem = unsendable(value.headers, saved.headers);
    if (problem) return problem;
    const isEdited = (name: keyof Values) => String(value[name]) !== String(saved[name]);
    const body = Object.fromEntries(Object.entries(bodyOf(value)).filter(([name]) => isEdited(name as keyof Values)));
    return call('PATCH /v1/webhooks/{id}', { path: { id: webhook.id }, body });
  };
  return (
    <Panel title="Endpoint and events">
      <ActionForm
        action="Save"
        act={save}
        announcement="Webhook updated."
        onDone={(response) => {
          setChanged(response);
          draft.saved({});
          onDone();
        }}
      >
        <RestoredDraft of={draft} />
        <WebhookFields
          of={{ value, field: (name) => ({ ...draft.field(name), value: value[name] }) }}
          saved={saved.headers}
        />
      </ActionForm>
    </Panel>
  );
}
