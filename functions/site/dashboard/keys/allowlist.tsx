import { useLayoutEffect, useState } from 'preact/hooks';
import { ActionForm } from '../components/action-form.tsx';
import { Panel } from '../components/basics.tsx';
import { Callout, RestoredDraft } from '../components/feedback.tsx';
import { TextArea } from '../components/field.tsx';
import type { Key, Result } from '../state/api.ts';
import { useDraft } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';

/** The entries of a list from anywhere, such as a firewall or a spreadsheet. Only an empty text has none, because it lifts the restriction. */
function entriesIn(text: string): string[] {
  const entries = text.split(/[\s,;]+/).filter(Boolean);
  return entries.length === 0 && text !== '' ? [text] : entries;
}

/** Edits the addresses that can use a key. */
export function AllowlistEditor({ of: { id, cidrs: loaded }, onSaved }: { of: Key; onSaved: () => void }) {
  const { call, keyId } = useSession();
  const [allowed, setAllowed] = useState(loaded); // after a change its response, until the reload
  useLayoutEffect(() => setAllowed(loaded), [loaded]);
  const saved = allowed.join('\n');
  const draft = useDraft<{ cidrs?: string }>(`${id} allowlist`, {});
  const { cidrs } = draft.value;
  const entries = cidrs === undefined ? allowed : entriesIn(cidrs);
  const isLifted = entries.length === 0 && allowed.length > 0;
  const save = async (): Promise<Result<{ cidrs: string[] }>> =>
    cidrs === undefined
      ? { value: { cidrs: allowed } }
      : call('POST /v1/keys/{key}/allowlist', { path: { key: id }, body: { cidrs: entries } });
  return (
    <Panel title="Allowlist">
      <ActionForm
        action="Save allowlist"
        act={save}
        announcement={isLifted ? 'Restriction removed.' : 'Allowlist saved.'}
        onDone={(changed) => {
          setAllowed(changed.cidrs);
          draft.saved({});
          onSaved();
        }}
      >
        <RestoredDraft of={draft} />
        <TextArea
          label="Addresses"
          hint={
            allowed.length === 0
              ? 'This key works from any IP address. Add addresses or CIDR ranges to restrict it.'
              : 'This key works only from the saved addresses. Remove them all to lift the restriction.'
          }
          placeholder="203.0.113.0/24"
          rows={Math.min(12, entries.length + 2)}
          name="cidrs"
          value={cidrs ?? saved}
          onInput={(next) => draft.set({ cidrs: next })}
        />
        {isLifted && <Callout kind="warning">This key will work from any IP address.</Callout>}
        {id === keyId && cidrs !== undefined && entries.length > 0 && (
          <Callout kind="warning">
            You are signed in with this key. If your own IP address is not listed, you will lock yourself out.
          </Callout>
        )}
      </ActionForm>
    </Panel>
  );
}
