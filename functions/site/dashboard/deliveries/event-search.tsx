import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { Button, Form } from '../components/basics.tsx';
import { Input } from '../components/field.tsx';
import { violationOf } from '../components/violations.ts';
import type { Problem } from '../state/api.ts';

interface SearchProps {
  /** The current filter. An empty text shows all events. */
  documentKey: string;
  problem: Problem | undefined;
  onDocument: (key: string) => void;
  onEvent: (id: string) => void;
  /** Other filters. */
  children: ComponentChildren;
}

/** Searches a list by document key. An event id opens its event. */
export function EventSearch({ documentKey, problem, onDocument, onEvent, children }: SearchProps) {
  const [typed, setTyped] = useState(documentKey);
  useLayoutEffect(() => setTyped(documentKey), [documentKey]); // before the user can type
  const search = () => {
    const text = typed.trim();
    if (text.startsWith('evt_')) onEvent(text);
    else onDocument(text);
  };
  return (
    <Form class="filters" role="search" onSubmit={search}>
      <Input
        label="Document key or event id"
        value={typed}
        onInput={setTyped}
        error={violationOf(problem, 'document_key')}
      />
      {children}
      <Button type="submit">Search</Button>
    </Form>
  );
}
