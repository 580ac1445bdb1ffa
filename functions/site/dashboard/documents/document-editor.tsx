import { useState } from 'preact/hooks';
import { visible } from '../../../../lib/printable.ts';
import { Button, ButtonLink, Form, Link, PageTitle, Panel } from '../components/basics.tsx';
import { Callout, ProblemNote, RestoredDraft } from '../components/feedback.tsx';
import { Input } from '../components/field.tsx';
import { objectIn, otherProblem, violationOf } from '../components/violations.ts';
import type { Call, Document } from '../state/api.ts';
import { useDraft, useSending } from '../state/hooks.ts';
import { linkTo, useGoTo } from '../state/router.ts';
import { useSession } from '../state/session.ts';
import { FieldsInput } from './fields-input.tsx';

type Fields = Document['fields'];
/** Formats fields with invisible characters as JSON escapes, which does not change the value. */
const textOf = (fields: Fields): string => visible(JSON.stringify(fields, null, 2));
export const etagOf = ({ revision }: Pick<Document, 'revision'>): string => `"${revision}"`;

function put(call: Call, key: string, text: string, headers: { 'If-Match': string } | { 'If-None-Match': string }) {
  const { value: fields, problem } = objectIn(text, 'Fields');
  if (problem) return Promise.resolve({ problem });
  return call('PUT /v1/documents/{key}', { path: { key }, headers, body: { fields } });
}

interface EditProps {
  of: Document;
  onSaved: () => void;
  onClose: () => void;
}

/** Edits the fields of a document. A concurrent change is shown and never overwritten silently. */
export function EditDocument({ of: opened, onSaved, onClose }: EditProps) {
  const { call, announce, environment } = useSession();
  // With its revision, because a restored text must not overwrite a change since then.
  const draft = useDraft(`${environment} ${opened.document_key}`, { text: textOf(opened.fields), base: opened });
  const { text, base } = draft.value;
  const [newer, setNewer] = useState<Document>();
  const path = { key: opened.document_key };
  const sending = useSending(() => put(call, opened.document_key, text, { 'If-Match': etagOf(base) }));
  const reading = useSending(() => call('GET /v1/documents/{key}', { path }));
  const isStale = sending.problem?.code === 'precondition_failed';
  const submit = async () => {
    setNewer(undefined);
    const saved = await sending.send();
    if (!saved) return;
    draft.saved();
    announce(`Saved as revision ${saved.revision}.`);
    onSaved();
  };
  const compare = async () => setNewer(await reading.send());
  const goOnFrom = (document: Document, next: string) => {
    draft.set({ text: next, base: document });
    sending.clear();
  };
  const discard = () => {
    draft.discard();
    sending.clear();
  };
  return (
    <Panel title={`Edit revision ${base.revision}`}>
      <Form onSubmit={submit}>
        <RestoredDraft of={{ ...draft, discard }} />
        <FieldsInput {...draft.field('text')} takesFocus />
        {!isStale && <ProblemNote problem={otherProblem(sending.problem, [])} />}
        {isStale && (
          <Callout kind="warning">
            <p role="alert">
              The document was changed or deleted after you opened revision {base.revision}. Nothing was saved.
              {newer && ` Revision ${newer.revision}:`}
            </p>
            <ProblemNote problem={reading.problem} />
            {newer ? (
              <>
                <pre class="sunken">{textOf(newer.fields)}</pre>
                <div class="actions">
                  <Button onClick={() => goOnFrom(newer, textOf(newer.fields))}>Edit the new version</Button>
                  <Button onClick={() => goOnFrom(newer, text)}>Keep my text</Button>
                </div>
              </>
            ) : (
              <Button onClick={compare} busy={reading.busy}>
                Show the new version
              </Button>
            )}
          </Callout>
        )}
        <div class="actions">
          <Button type="submit" kind="primary" busy={sending.busy}>
            Save
          </Button>
          <Button
            onClick={() => {
              draft.discard();
              onClose();
            }}
          >
            Cancel
          </Button>
        </div>
      </Form>
    </Panel>
  );
}

export function NewDocument() {
  const { call, announce, environment } = useSession();
  const goTo = useGoTo();
  const draft = useDraft(`${environment} new document`, { key: '', text: '{\n  "title": "Draft"\n}' });
  const { key, text } = draft.value;
  const sending = useSending(() => put(call, key.trim(), text, { 'If-None-Match': '*' }));
  const { problem } = sending;
  const exists = problem?.code === 'precondition_failed';
  const isEmpty = key.trim() === '';
  const keyError = isEmpty ? 'must be 1 to 16 segments joined by ":"' : violationOf(problem, 'key');
  const submit = async () => {
    const created = await sending.send();
    if (!created) return;
    draft.discard();
    announce('Document created.');
    goTo(linkTo(environment, ['documents', created.document_key]));
  };
  return (
    <>
      <p class="up">
        <Link to={['documents']}>Documents</Link>
      </p>
      <PageTitle>Create document</PageTitle>
      <Panel>
        <Form onSubmit={submit}>
          <RestoredDraft of={draft} />
          <Input
            label="Document key"
            hint="Segments of A-Z a-z 0-9 . _ ~ @ - joined by colons."
            placeholder="org:acme:doc-1"
            error={problem && keyError}
            {...draft.field('key')}
            onInput={(next) => {
              draft.set({ ...draft.value, key: next });
              sending.clear(); // the problem is about the key that was sent
            }}
          />
          <FieldsInput {...draft.field('text')} />
          {exists && (
            <Callout kind="warning">
              There is a document with this key. <Link to={['documents', key.trim()]}>Open it</Link>.
            </Callout>
          )}
          {!exists && !isEmpty && <ProblemNote problem={otherProblem(problem, ['key'])} />}
          <div class="actions">
            <Button type="submit" kind="primary" busy={sending.busy}>
              Create
            </Button>
            <ButtonLink to={['documents']} onClick={draft.discard}>
              Cancel
            </ButtonLink>
          </div>
        </Form>
      </Panel>
    </>
  );
}
