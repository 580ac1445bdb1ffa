import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, Form, Panel } from '../components/basics.tsx';
import { Callout, ProblemNote } from '../components/feedback.tsx';
import { otherProblem, violationOf } from '../components/violations.ts';
import type { Key } from '../state/api.ts';
import { useSending } from '../state/hooks.ts';
import { useSession } from '../state/session.ts';

interface Row {
  id: number;
  text: string;
}

const textOf = (rows: readonly Row[]): string => rows.map(({ text }) => text).join();

/** The name of an entry in the violations of a request. */
const fieldOf = (index: number) => `cidrs[${index}]`;

/** Edits the addresses that can use a key. Marks the entries that the API rejects. */
export function AllowlistEditor({ of: key, onSaved }: { of: Key; onSaved: () => void }) {
  const { call, keyId, announce } = useSession();
  const nextId = useRef(0);
  const row = (text: string): Row => ({ id: nextId.current++, text });
  const [rows, setRows] = useState<Row[]>(() => key.cidrs.map(row));
  const sent = useRef(rows);
  const shown = useRef(key.cidrs);
  const list = useRef<HTMLUListElement>(null);
  const isAdded = useRef(false);
  useLayoutEffect(() => {
    if (isAdded.current) list.current?.querySelector<HTMLElement>('li:last-child input')?.focus();
    isAdded.current = false;
  });
  const saved = key.cidrs.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list that another admin saved replaces an unchanged one
  useLayoutEffect(() => {
    const [last, count] = [shown.current.join(), shown.current.length];
    shown.current = key.cidrs;
    setRows((all) => (all.length === count && textOf(all) === last && last !== saved ? key.cidrs.map(row) : all));
  }, [saved]);
  const cidrs = rows.map(({ text }) => text.trim()).filter(Boolean);
  const sending = useSending(() => {
    sent.current = rows;
    const body = { cidrs: rows.map(({ text }) => text.trim()) };
    return call('POST /v1/keys/{key}/allowlist', { path: { key: key.id }, body });
  });
  // A violation belongs to the row that was sent, so a row that was edited since then shows none.
  const fields = rows.map((each) => fieldOf(sent.current.indexOf(each)));
  const isChanged = textOf(rows) !== saved;
  const change = (next: Row[]) => {
    setRows(next);
    sending.clear();
  };
  const save = async () => {
    const response = await sending.send();
    if (!response) return;
    shown.current = response.cidrs; // a change back that was typed during the request stays
    setRows((last) => (last === rows ? response.cidrs.map(row) : last)); // keeps what was typed during the request
    announce(response.cidrs.length === 0 ? 'Restriction removed.' : 'Allowlist saved.');
    onSaved();
  };
  const add = () => {
    isAdded.current = true;
    change([...rows, row('')]);
  };
  // Each pasted line or list item becomes an entry.
  const paste = (at: number, event: ClipboardEvent) => {
    const lines = (event.clipboardData?.getData('text') ?? '').split(/[\s,;]+/).filter(Boolean);
    if (lines.length < 2) return;
    event.preventDefault();
    change([...rows.slice(0, at), ...lines.map(row), ...rows.slice(at + 1).filter(({ text }) => text !== '')]);
  };
  return (
    <Panel title="Allowlist">
      <p class="muted">
        {key.cidrs.length === 0
          ? 'This key works from any IP address. Add addresses or CIDR ranges to restrict it.'
          : 'This key works only from the saved addresses. Remove them all to lift the restriction.'}
      </p>
      <Form onSubmit={save}>
        <ul class="entries" ref={list}>
          {rows.map(({ id, text }, i) => {
            const error = violationOf(sending.problem, fields[i] ?? '');
            return (
              <li key={id}>
                <input
                  value={text}
                  aria-label={`Address ${i + 1}`}
                  aria-invalid={error ? true : undefined}
                  aria-describedby={error ? `entry-${id}` : undefined}
                  placeholder="203.0.113.0/24"
                  autocomplete="off"
                  spellcheck={false}
                  onInput={(event) =>
                    change(rows.map((each) => (each.id === id ? { id, text: event.currentTarget.value } : each)))
                  }
                  onPaste={(event) => paste(i, event)}
                />
                <Button
                  kind="quiet"
                  label={`Remove address ${i + 1}`}
                  onClick={() => change(rows.filter((each) => each.id !== id))}
                >
                  Remove
                </Button>
                {error && (
                  <p class="field-error" id={`entry-${id}`} role="alert">
                    {error}
                  </p>
                )}
              </li>
            );
          })}
        </ul>
        {key.id === keyId && isChanged && cidrs.length > 0 && (
          <Callout kind="warning">
            You are signed in with this key. If your own IP address is not listed, you will lock yourself out.
          </Callout>
        )}
        <ProblemNote problem={otherProblem(sending.problem, fields)} />
        <div class="actions">
          <Button onClick={add}>Add address</Button>
          {isChanged && (
            <Button type="submit" kind="primary" busy={sending.busy}>
              Save allowlist
            </Button>
          )}
        </div>
      </Form>
    </Panel>
  );
}
