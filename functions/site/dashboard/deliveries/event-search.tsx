import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { Button, Form } from '../components/basics.tsx';
import { Input, Select } from '../components/field.tsx';
import { CUSTOM, choicesOf, chosenPeriod, type Period } from '../components/period.ts';
import { fromLocal, toLocal } from '../components/time.tsx';
import { violationOf } from '../components/violations.ts';
import { type Problem, serverNow } from '../state/api.ts';

interface SearchProps {
  /** The current filter by document. An empty text shows all events. */
  text: string;
  placeholder?: string;
  period: Period;
  problem: Problem | undefined;
  onSearch: (text: string, period: Period) => void;
  onEvent: (id: string) => void;
  /** Other filters. */
  children: ComponentChildren;
}

/** Searches a list by document key and time. An event id opens its event. A custom period has fields that only it shows. */
export function EventSearch({ text, placeholder = '', period, problem, onSearch, onEvent, children }: SearchProps) {
  const [typed, setTyped] = useState(text);
  const [since, setSince] = useState(toLocal(period.since));
  const [until, setUntil] = useState(toLocal(period.until));
  // Before the user can type.
  useLayoutEffect(() => setTyped(text), [text]);
  useLayoutEffect(() => setSince(toLocal(period.since)), [period.since]);
  useLayoutEffect(() => setUntil(toLocal(period.until)), [period.until]);
  const isCustom = period.period === CUSTOM;
  const isReversed = isCustom && since !== '' && until !== '' && until <= since;
  const { chosen, options } = choicesOf(period);
  const search = () => {
    const entered = typed.trim();
    if (entered.startsWith('evt_')) return onEvent(entered);
    if (isReversed) return;
    onSearch(entered, isCustom ? { ...period, since: timeIn(since), until: timeIn(until) } : period);
  };
  return (
    <Form class="filters" role="search" onSubmit={search}>
      <Input
        label="Document key or event id"
        placeholder={placeholder}
        value={typed}
        onInput={setTyped}
        error={violationOf(problem, 'document_key') ?? violationOf(problem, 'prefix')}
      />
      {children}
      <Select
        label="Time"
        value={chosen}
        options={options}
        onChange={(choice) => onSearch(typed.trim(), chosenPeriod(choice, period, serverNow()))}
      />
      {isCustom && (
        <>
          <Input
            label="Since"
            type="datetime-local"
            value={since}
            onInput={setSince}
            error={violationOf(problem, 'since')}
          />
          <Input
            label="Until"
            type="datetime-local"
            value={until}
            onInput={setUntil}
            error={isReversed ? 'must be after Since' : violationOf(problem, 'until')}
          />
        </>
      )}
      <Button type="submit">Search</Button>
    </Form>
  );
}

const timeIn = (local: string): string => fromLocal(local) ?? '';
